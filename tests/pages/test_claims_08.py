"""Chapter 8 says nothing of hashed blocks that its own runs do not show.

Every checkable sentence of its first acts, of the self-check and of the links is held here against
what the page itself computes, over the whole range of a control where the sentence is.
"""

import json
from functools import cache
from itertools import pairwise, takewhile

import pytest

from sim.kv.lru import MOONCAKE_BLOCK_TOKENS, MOONCAKE_HIT_RATES
from sim.metrics import computed_tokens, reused_tokens, ttft
from sim.workload import Chats
from tests.chapters import ROOT
from tests.pages.rehearsal import open_page, set_alike
from ui.player.painters.shelves import Shelves
from ui.practice import predict
from ui.results import runs
from ui.subjects.prefix import pool_walk, prompts
from ui.words.numbers import count, percent, seconds

CACHE = open_page("08_prefix_cache")
PAGE = CACHE.constants
QUIZ = {
    item["id"]: item
    for item in json.loads((ROOT / "assets" / "quiz" / "08.json").read_text("utf-8"))["items"]
}
SCENES = pytest.mark.parametrize("scene", PAGE["SCENES"])


def shown(item):
    """The state into which an item's "show me" leads."""
    link = QUIZ[item]["link"]
    assert link["page"] == "08_prefix_cache"
    return CACHE.at({key: value for key, value in link["query"].items() if key != "step"})


def both(scene):
    """The runs without and with the cache."""
    setups = CACHE.play("hook", scene=scene).setups
    off, on = map(runs.run, setups)
    assert reused_tokens(off) == 0
    return off, on


def the_shelves(played):
    (frames,) = played.frames
    assert isinstance(frames, Shelves)
    return frames


def hits(scene):
    return [record.hit_tokens for record in both(scene)[1].records]


@pytest.mark.parametrize("act", ["capacity", "tree", "replicas"])
def test_a_link_shows_what_it_says_whichever_was_clicked_before(act):
    assert set_alike(CACHE.play(act).presets)


# -- with and without ----------------------------------------------------------------------------


def test_ttft_falls_itl_stays_and_the_whole_answer_gains_what_ttft_gains():
    truth = CACHE.play("hook").guesses["faster"]
    assert isinstance(truth, predict.Trends)
    assert truth.truth == {"ttft": "down", "itl": "same", "whole": "down"}
    off, on = map(runs.summary, (run.setup for run in both("document")))
    assert off.ttft.mean - on.ttft.mean == pytest.approx(off.e2e.mean - on.e2e.mean)


@SCENES
def test_a_hit_makes_not_one_decode_step_faster(scene):
    off, on = both(scene)
    for before, after in zip(off.records, on.records, strict=True):
        gaps, as_before = (
            one.token_seconds[1:] - one.token_seconds[:-1] for one in (after, before)
        )
        assert gaps == pytest.approx(as_before)


@SCENES
def test_every_prompt_token_is_computed_or_reused(scene):
    said = CACHE.play("hook", scene=scene).said["hook_result"]
    off, on = both(scene)
    assert said["all"] == count(sum(request.prompt_tokens for request in off.requests))
    assert said["computed"] == count(computed_tokens(on))
    assert said["saved"] == count(reused_tokens(on))
    assert computed_tokens(on) + reused_tokens(on) == computed_tokens(off)


@SCENES
def test_somebody_has_to_be_first_and_computes_everything(scene):
    off, on = both(scene)
    assert on.records[0].hit_tokens == 0
    assert ttft(on.records[0]) == ttft(off.records[0])
    assert all(record.hit_tokens > 0 for record in on.records[1:])


@SCENES
def test_each_prompt_begins_with_what_has_been_sent_before(scene):
    texts = prompts.conversation(scene)
    for before, text in pairwise(texts):
        pairs = zip(before.spoken, text.tokens, strict=False)
        alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        assert (alike == len(before.spoken)) == (scene == "chat")  # with its answer
        assert alike > 64


@SCENES
def test_no_ttft_is_below_reading_the_weights_once(scene):
    floor = PAGE["CLOCK"].decode_floor_seconds
    assert CACHE.play("hook", scene=scene).said["hook_limits"]["floor"] == seconds(floor)
    for record in both(scene)[1].records[1:]:
        assert floor <= ttft(record) < 1.06 * floor


def test_the_first_turns_of_a_chat_are_near_the_floor_without_a_cache_too():
    off, on = both("chat")
    for before, after in zip(off.records[:2], on.records[:2], strict=True):
        assert ttft(before) == pytest.approx(ttft(after), rel=0.01)
    assert on.records[1].hit_tokens > 0
    assert ttft(off.records[-1]) > 2 * ttft(on.records[-1])


def test_the_next_turn_of_a_chat_finds_the_answer_before_it():
    texts = prompts.conversation("chat")
    for before, hit in zip(texts[:-1], hits("chat")[1:], strict=True):
        assert hit > len(before.tokens)  # beyond the question: into the answer
        assert hit == (len(before.spoken) - 1) // 16 * 16  # the last token is never computed


@pytest.mark.parametrize("scene", ["document", "system", "shots"])
def test_all_full_blocks_of_the_common_beginning_are_found(scene):
    first, *_ = texts = prompts.conversation(scene)
    for text, hit in zip(texts[1:], hits(scene)[1:], strict=True):
        common = next(
            at
            for at, (one, other) in enumerate(zip(first.tokens, text.tokens, strict=False))
            if one != other
        )
        assert hit >= common // 16 * 16
        assert hit < len(text.tokens)


def test_requests_come_so_far_apart_that_nobody_queues():
    for scene in PAGE["SCENES"]:
        assert all(runs.summary(run.setup).queue_time.max == 0 for run in both(scene))


def test_the_starting_state_gives_nothing_away():
    played = CACHE.play("hook")
    assert [card.note for card in played.cards] == [""] * 4
    assert played.cards[1].value == "0%"


# -- the hash chain ------------------------------------------------------------------------------


def looked_up(**values):
    """(blocks found, tokens computed, boxes of the new prompt at the end, notes)."""
    played = CACHE.play("chain", **values)
    frames = the_shelves(played)
    said = played.said["chain_result"]
    return said["found"], int(said["computed"]), frames.shelves[1].steps[-1], frames.notes


def test_the_same_prompt_again_computes_its_last_block():
    found, computed, boxes, notes = looked_up(edit="same")
    assert (found, computed) == (len(boxes) - 1, 8)
    assert "the whole block is computed again" in notes[-1]


@pytest.mark.parametrize("size", PAGE["BLOCK_SIZES"])
def test_the_last_block_of_the_same_prompt_is_computed_at_any_block_size(size):
    found, computed, boxes, _ = looked_up(edit="same", size=size)
    assert found == len(boxes) - 1
    assert computed == len(boxes[-1].body)
    is_full = computed == size
    assert is_full == (size < 16)  # so both cases of the text are there
    assert (boxes[-1].head == "–") == (not is_full)


@pytest.mark.parametrize("size", PAGE["BLOCK_SIZES"])
@pytest.mark.parametrize("edit", ["append", "time_last"])
def test_what_is_changed_at_the_end_leaves_all_full_blocks_before_it(edit, size):
    found, *_ = looked_up(edit=edit, size=size)
    assert found == len(prompts.tokens(prompts.edited("same"))) // size


def test_one_block_and_one_token_are_no_plural():
    assert looked_up(edit="own", text="a")[-1][0].startswith(
        "The new prompt has 1 token in 1 block;"
    )


def test_one_word_near_the_start_changes_every_later_hash_and_no_later_token():
    found, _, boxes, notes = looked_up(edit="word")
    before = looked_up(edit="same")[2]
    assert found == 0
    assert [box.body for box in boxes[1:]] == [box.body for box in before[1:]]
    assert all(box.head != old.head for box, old in zip(boxes, before, strict=True))
    assert all("The very same tokens" in note for note in notes[2:])


@pytest.mark.parametrize("size", PAGE["BLOCK_SIZES"])
def test_a_time_at_the_start_leaves_nothing_to_be_found(size):
    assert looked_up(edit="time", size=size)[0] == 0


def test_the_time_at_the_end_is_the_same_time():
    first, last = prompts.edited("time"), prompts.edited("time_last")
    assert sorted(first.replace(" ", "")) == sorted(last.replace(" ", ""))


def test_the_readers_own_words_are_looked_up():
    same = prompts.edited("same")
    assert looked_up(edit="own")[0] == looked_up(edit="same")[0]
    assert looked_up(edit="own", text=same[:30])[0] == 1
    assert looked_up(edit="own", text="x" + same)[0] == 0
    assert looked_up(edit="own", text="")[:2] == (0, 0)
    assert looked_up(edit="own", text="<b>&amp;</b> ` $x$ [a](b)")[0] == 0


# -- the pool ------------------------------------------------------------------------------------


def found_of(blocks):
    said = CACHE.play("pool", blocks=blocks).said["pool_result"]
    return said["found_e"], said["found_f"]


def test_fifteen_blocks_are_the_least_at_which_e_finds_all_of_s():
    finds = {blocks: found_of(blocks)[0] for blocks in range(8, 19)}
    assert min(blocks for blocks, found in finds.items() if found == 3) == 15
    assert list(finds.values()) == sorted(finds.values())
    assert finds[13] == 1  # where the reader starts


def test_f_finds_at_most_both_blocks_of_t():
    assert [found_of(blocks)[1] for blocks in (13, 14, 15, 18)] == [1, 2, 2, 2]


@pytest.mark.parametrize("blocks", range(8, 19))
def test_the_pool_is_walked_to_its_end_at_every_size(blocks):
    frames = the_shelves(CACHE.play("pool", blocks=blocks))
    pool, queue = frames.shelves
    assert len(frames.notes) == len(pool_walk.MOVES) + 1
    assert len(queue.steps[-1]) == len(pool.steps[-1]) == blocks  # all have left


def test_the_count_of_s_is_two_when_b_has_come_and_d_evicts_from_the_head():
    frames = the_shelves(CACHE.play("pool"))
    pool, queue = frames.shelves
    assert [box.head for box in pool.steps[2][:3]] == ["1 ×2", "2 ×2", "3 ×2"]
    taken = {box.head.split()[0] for box in pool.steps[10] if box.kind == "prefill"}
    assert taken == {box.head for box in queue.steps[9][: len(taken)]}
    assert "evicts A4, B4, S3" in frames.notes[10]


# -- how large -----------------------------------------------------------------------------------


@cache
def rates(talks):
    """Hit rate by room, and the limit, as the cards show them."""
    shown = {room: CACHE.play("capacity", room=room, talks=talks).cards for room in PAGE["ROOMS"]}
    limit = {cards[2].value for cards in shown.values()}
    assert len(limit) == 1
    as_share = {room: float(cards[1].value.rstrip("%")) for room, cards in shown.items()}
    return as_share, float(limit.pop().rstrip("%"))


@pytest.mark.parametrize("talks", PAGE["TALKS"])
def test_the_hit_rate_rises_with_the_room_up_to_its_limit(talks):
    by_room, limit = rates(talks)
    assert list(by_room.values()) == sorted(by_room.values())
    assert by_room[PAGE["ROOMS"][-1]] == limit < 100


def test_twice_as_many_chats_need_about_twice_the_room():
    enough = []
    for by_room, limit in map(rates, PAGE["TALKS"]):
        enough.append(min(room for room, rate in by_room.items() if rate > 0.97 * limit))
    assert enough == [16_384 * 2**power for power in range(5)]


def test_on_the_left_it_is_the_system_prompt_that_is_found():
    for talks in PAGE["TALKS"]:
        by_room, _ = rates(talks)
        chats = Chats(600, talks, 10, PAGE["SYSTEM_TOKENS"], 64, 192).requests()
        share = 100 * PAGE["SYSTEM_TOKENS"] * len(chats) / sum(r.prompt_tokens for r in chats)
        longest = max(request.prompt_tokens for request in chats)
        assert 2_048 < longest <= 4_096
        assert by_room[2_048] > share - 2.5  # less than one conversation, and it is kept
        if talks >= 32:  # fewer fit in part, even on the left
            assert by_room[4_096] == pytest.approx(share, abs=5)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_another_order_of_turns_says_the_same_of_the_room(seed):
    for talks in PAGE["TALKS"][1:4]:
        chats = Chats(600, talks, 10, PAGE["SYSTEM_TOKENS"], 64, 192, seed)
        by_room = runs.lru_hit_rates(chats, PAGE["CHAT_BLOCK"], (*PAGE["ROOMS"], None))
        assert list(by_room) == sorted(by_room)
        enough = dict(zip(PAGE["ROOMS"], by_room, strict=False))
        assert enough[2_048 * talks] > 0.97 * by_room[-1] > enough[1_024 * talks]


def test_keys_and_values_are_fetched_sooner_than_computed_anew_and_by_how_much():
    said = CACHE.play("capacity").said["capacity_real"]
    assert (said["tokens"], said["fetch"], said["compute"]) == ("2,880", "5.90 ms", "72.8 ms")
    for tokens in (16, 512, 2_880, 32_768):  # from one block on
        back = PAGE["caches"].Comeback(PAGE["LARGER"], PAGE["PCIE_5"], tokens)
        assert back.fetched_seconds < back.computed_seconds / 5


def test_the_links_show_half_the_room_a_crowd_and_enough():
    presets = PAGE["FULL_AND_EMPTY"]
    half, crowd, enough = (presets[f"capacity_{name}"] for name in ("half", "crowd", "enough"))
    by_room, limit = rates(half["talks"])
    assert by_room[half["room"]] < 0.85 * limit
    assert by_room[2 * half["room"]] > 0.97 * limit
    by_room, limit = rates(crowd["talks"])
    assert by_room[crowd["room"]] < 36  # the system prompt alone is 31
    assert limit > 70
    by_room, limit = rates(32)
    assert by_room[enough["room"]] == limit


def test_one_cards_pool_is_smaller_than_any_cache_that_mooncake_reports():
    smallest = min(MOONCAKE_HIT_RATES) * MOONCAKE_BLOCK_TOKENS
    assert all(tokens < smallest for tokens in PAGE["POOLS"].values())
    assert CACHE.play("capacity").said["capacity_real"]["limit"] == percent(0.366)


# -- self-check ----------------------------------------------------------------------------------


def test_show_me_leads_to_a_shorter_ttft_and_the_same_itl():
    for item in ("what_gets_faster", "good_average"):
        cards = shown(item).cards
        now, before = cards[2].value, cards[2].note
        assert now != before.removesuffix(" without")
        assert cards[3].value == cards[3].note.removesuffix(" without")


def test_show_me_leads_to_a_cold_request_among_warm_ones():
    waits = [ttft(record) for record in both("document")[1].records]
    assert waits[0] > 5 * max(waits[1:])


def test_show_me_leads_to_a_prompt_of_which_nothing_is_found():
    assert shown("repeated_text").said["chain_result"]["found"] == 0


def test_show_me_leads_to_a_time_that_does_no_harm():
    assert shown("timestamp").said["chain_result"]["found"] == 7


def test_show_me_leads_to_a_last_block_that_is_computed_again():
    assert shown("last_block").said["chain_result"]["computed"] == "8"
    assert QUIZ["last_block"]["answer"]["value"] == 16


def test_show_me_leads_to_a_tail_that_stands_before_its_beginning_in_the_queue():
    step = int(QUIZ["first_evicted"]["link"]["query"]["step"])
    frames = the_shelves(shown("first_evicted"))
    contents = [box.body[0] for box in frames.shelves[1].steps[step]]
    assert frames.notes[step].startswith("B leaves")
    assert contents[-4:] == ["B4", "S3", "S2", "S1"]


def test_show_me_leads_to_a_cache_that_sixteen_chats_had_enough_of():
    assert shown("twice_the_chats").cards[1].value == percent(rates(32)[0][32_768] / 100)
    assert rates(16)[0][32_768] > 0.97 * rates(16)[1]  # just enough: half of it is not
    assert rates(16)[0][16_384] < 0.85 * rates(16)[1]
    assert rates(32)[0][32_768] < 0.85 * rates(32)[1]
