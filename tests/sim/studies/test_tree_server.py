"""A queue before a radix tree: no slot is lost, what runs stays, and the order matters."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.errors import SimError
from sim.events import NodeEvicted, NodeSplit
from sim.studies.tree_server import TreeStep, least_slots, serve, turn_before
from sim.workload.prompts import Prompt

TEXTS = st.text("ab", min_size=1, max_size=9)
QUEUES = st.lists(st.builds(Prompt, TEXTS.map(tuple), TEXTS.map(tuple)), min_size=1, max_size=7)
ORDERS = st.sampled_from(["fcfs", "lpm"])


def prompt(text: str, answer: str = "!") -> Prompt:
    return Prompt(tuple(text), tuple(answer))


def two_families(rounds: int = 3) -> list[Prompt]:
    """Two long beginnings by turns, as A B A B ..., each time with another question."""
    return [prompt("system"[::step] * 2 + str(n)) for n in range(rounds) for step in (1, -1)]


# -- one request ---------------------------------------------------------------------------------


def test_a_request_is_looked_up_computed_and_finished():
    served = serve([prompt("abc", "de")], 10)
    assert [step.action for step in served.steps] == ["begin", "look_up", "compute", "finish"]
    assert [step.num_tree_slots for step in served.steps] == [0, 0, 3, 5]
    assert [step.num_own_slots for step in served.steps] == [0, 0, 2, 0]


def test_the_prompt_can_be_found_while_its_answer_is_being_written():
    served = serve([prompt("abcd", "xy"), prompt("abce")], 20)
    assert served.hits == (0, 3)
    found = next(step for step in served.steps if step.action == "look_up" and step.who == 1)
    assert found.running == (0, 1)
    assert NodeSplit in [type(event) for event in found.events]


def test_the_last_token_of_a_prompt_is_always_computed():
    assert serve([prompt("abcd"), prompt("abcd", "?")], 20).hits == (0, 3)


def test_two_that_compute_the_same_keep_it_once():
    served = serve([prompt("abcd"), prompt("abcd", "?")], 20)
    assert served.steps[-1].num_tree_slots == 6  # abcd, "!" and "?"


def test_the_next_turn_comes_when_the_answer_it_repeats_is_written():
    chat = [prompt("hi", "yo"), prompt("x"), prompt("hiyo?")]
    assert [turn_before(who, chat) for who in range(3)] == [None, None, 0]
    served = serve(chat, 20)
    done = next(n for n, step in enumerate(served.steps) if step.action == "finish")
    assert all(2 not in step.waiting for step in served.steps[:done])
    assert served.steps[done].waiting == (2,)
    assert served.hits[2] == 4


def test_of_several_turns_a_prompt_follows_the_last_one_it_repeats():
    chat = [prompt("hi", "yo"), prompt("hiyo?", "no"), prompt("hiyo?no!", "ok")]
    assert [turn_before(who, chat) for who in range(3)] == [None, 0, 1]
    assert serve(chat, 20).order == (0, 1, 2)


# -- room ----------------------------------------------------------------------------------------


def test_leaves_go_one_by_one_and_only_for_somebody_who_lacks_room():
    served = serve([prompt("aaa"), prompt("bbb"), prompt("ccc")], 8, max_running=1)
    evictions = [step for step in served.steps if step.action == "evict"]
    assert [[type(event) for event in step.events] for step in evictions] == [[NodeEvicted]] * 2
    assert served.num_evicted_tokens == 4  # "!" and "aaa": the tail before what it hangs on


def test_whoever_cannot_get_enough_waits_for_somebody_to_finish():
    served = serve([prompt("aaaa", "bbbb"), prompt("cccc", "dddd")], 10)
    actions = [(step.action, step.who) for step in served.steps]
    refused = actions.index(("refuse", 1))
    assert actions.index(("finish", 0)) == refused + 1
    assert served.steps[refused].waiting == (1,)


def test_a_request_that_can_never_fit_is_an_error():
    with pytest.raises(SimError) as error:
        serve([prompt("abc", "de")], 4)
    assert (error.value.code, error.value.values) == (
        "slots_too_few",
        {"needed": 5, "num_slots": 4},
    )


# -- order ---------------------------------------------------------------------------------------


def test_first_come_serves_in_order_and_longest_prefix_serves_a_family_at_a_time():
    queue = two_families()
    assert serve(queue, 40, "fcfs").order == (0, 1, 2, 3, 4, 5)
    assert serve(queue, 40, "lpm").order == (0, 2, 4, 1, 3, 5)
    assert [serve(queue, 40, order).place_of(1) for order in ("fcfs", "lpm")] == [2, 4]


def test_with_little_room_the_order_decides_over_the_hits_and_with_much_it_does_not():
    queue = two_families()
    tight, roomy = least_slots(queue), 60
    hits = {
        (slots, order): serve(queue, slots, order, max_running=1).num_hit_tokens
        for slots in (tight, roomy)
        for order in ("fcfs", "lpm")
    }
    assert hits[tight, "fcfs"] == 0
    assert hits[tight, "lpm"] == hits[roomy, "lpm"] == hits[roomy, "fcfs"] == 48


# -- whatever the queue --------------------------------------------------------------------------


@given(queue=QUEUES, order=ORDERS, spare=st.integers(0, 12), width=st.integers(1, 3))
def test_no_slot_is_lost_or_used_twice_and_everybody_is_served(queue, order, spare, width):
    slots = least_slots(queue) + spare
    served = serve(queue, slots, order, width)
    assert sorted(served.order) == list(range(len(queue)))
    for step in served.steps:
        assert step.num_tree_slots + step.num_own_slots <= slots
        assert len(step.running) <= width
    last = served.steps[-1]
    assert (last.waiting, last.running, last.num_own_slots) == ((), (), 0)
    assert all(node.lock_count == 0 for node in last.nodes)


@given(queue=QUEUES, order=ORDERS, width=st.integers(1, 3))
def test_what_a_running_request_uses_stays_and_is_locked(queue, order, width):
    for step in serve(queue, least_slots(queue), order, width).steps:
        starting = {step.who} if step.action in ("look_up", "evict") else set()
        computed = set(step.running) - starting
        for who in computed:
            prompt_tokens = queue[who].tokens
            covering = [n for n in step.nodes if prompt_tokens[: len(n.path)] == n.path]
            assert max(len(node.path) for node in covering) == len(prompt_tokens)
            assert all(node.lock_count >= 1 for node in covering)


@given(queue=QUEUES, order=ORDERS)
def test_the_first_in_the_order_of_eviction_is_the_one_that_goes(queue, order):
    steps = serve(queue, least_slots(queue), order).steps
    for before, after in pairwise(steps):
        if after.action == "evict":
            assert gone(after) == [before.next_to_go()[0].id]


def gone(step: TreeStep) -> list[int]:
    return [event.node_id for event in step.events if isinstance(event, NodeEvicted)]


def test_an_order_nobody_knows_is_an_error():
    with pytest.raises(SimError) as error:
        serve([prompt("abc")], 9, "shortest")
    assert error.value.code == "order_unknown"
