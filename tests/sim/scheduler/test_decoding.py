"""The group of those who decode: one count instead of many, and the same in the end."""

from sim.request import Sequence
from sim.scheduler import Decoding, Load
from tests.sim.helpers import sequence


def member(id: int, computed: int, still: int = 9) -> Sequence:
    """Someone whose first token is out and who has `still` to write."""
    who = sequence(id, prompt=computed, output=still + 1)
    who.num_computed_tokens = computed
    who.append_token()
    return who


def group(*members: Sequence, grows: bool = True) -> Decoding:
    decoding = Decoding(block_size=4, grows=grows)
    for order, who in enumerate(members):
        decoding.add(who, order)
    return decoding


A, B, C = (member(id, 5) for id in range(3))


def test_others_are_those_who_run_and_do_not_belong_in_running_order():
    assert group(A).others([A]) == []
    assert group(A).others([A, B]) == [B]
    assert group(A).others([B, A]) == [B]
    assert group(A).others([B, A, C]) == [B, C]
    assert group().others([A, B, C]) == [A, B, C]


def test_a_step_adds_a_token_of_context_for_each_member():
    decoding = group(member(0, 5), member(1, 9))
    assert decoding.load == Load.decode(2, 5 + 9 + 2)
    decoding.tick(3)
    assert decoding.load == Load.decode(2, 5 + 9 + 3 * 2 + 2)


def test_a_member_needs_a_block_when_its_last_one_is_full():
    """Five tokens lie in two blocks of four: the fourth step writes the ninth token."""
    decoding = group(member(0, 5), member(1, 8))
    assert decoding.blocks_due(9) == [1, 1, 1, 2, 3, 3, 3, 4, 5]
    assert decoding.num_blocks_due() == 1
    decoding.tick(3)
    assert decoding.num_blocks_due() == 1
    assert decoding.blocks_due(2) == [1, 2]
    assert group(member(0, 8), grows=False).blocks_due(2) == [0, 0]


def test_whoever_is_done_leaves_in_order_of_admission_with_its_counters_up_to_date():
    long, second, first = member(0, 5, still=4), member(1, 7, still=2), member(2, 6, still=2)
    decoding = Decoding(block_size=4)
    decoding.tick()
    for order, who in ((0, long), (2, second), (1, first)):
        decoding.add(who, order)
    assert decoding.next_done == 1 + 2
    decoding.tick(2)
    assert decoding.pop_finished() == [(first, 1), (second, 1)]
    assert (first.num_computed_tokens, first.num_tokens, first.num_output_tokens) == (8, 9, 3)
    assert first.is_finished
    assert second.is_finished
    assert decoding.load == Load.decode(1, 5 + 2 + 1)
    assert decoding.blocks_due(3) == [0, 1, 1]  # of the long one alone
    assert decoding.next_done == 1 + 4


def test_when_all_leave_nothing_is_left():
    decoding = group(member(0, 5), member(1, 8))
    decoding.tick(2)
    assert [(who.id, who.num_computed_tokens, joined) for who, joined in decoding.dissolve()] == [
        *((0, 7, 0), (1, 10, 0))
    ]
    assert decoding.load == Load.decode(0, 0)
    assert decoding.blocks_due(4) == [0, 0, 0, 0]
    assert decoding.pop_finished() == []
