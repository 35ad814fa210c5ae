"""Before a chapter and at its end the same is asked, with other numbers; what changed is shown."""

import json

import numpy as np
import pytest

from sim import metrics, specs, workload
from sim.cost import Eager, Roofline, parallel, phases
from sim.cost.formats import StoredModel
from sim.engine import Record, Setup, simulate, steps
from sim.kv import chain, sizes
from sim.model import speculative
from sim.request import Request
from sim.scheduler import Chunked, Static
from sim.views import stalls
from sim.views.slots import slot_grid
from tests.ui.practice import test_quiz_keys as keys
from ui.page import beforehand
from ui.practice import answers, bank, progress_view
from ui.practice.answers import Mark
from ui.practice.exhibits import evidence, observed
from ui.practice.kept import progress
from ui.results import runs
from ui.words import language

ITEMS = bank.beforehand()
LLAMA, H100 = keys.LLAMA, keys.H100


def option(name):
    """The right one, in English."""
    return next(one.text.en for one in ITEMS[name].options if one.right)


def number(name):
    return float(option(name).split()[0].rstrip("%"))


@pytest.fixture
def session(monkeypatch):
    state: dict = {}
    monkeypatch.setattr(answers.st, "session_state", state)
    monkeypatch.setattr(language, "current", lambda: "en")
    return state


# -- how they are written ----------------------------------------------------------------------


def test_every_chapter_with_a_self_check_is_asked_once_before_it():
    assert tuple(ITEMS) == bank.names()
    for name, item in ITEMS.items():
        assert item.kind == "single"
        assert len(item.options) == 4
        assert item.after in {one.key for one in bank.load(name)}


def test_no_number_of_an_answer_stands_in_its_twin():
    for item in ITEMS.values():
        twin = bank.all_items()[item.after]
        given = {word for word in item.question.en.split() if word.rstrip(".,:").isdecimal()}
        again = {word for word in twin.question.en.split() if word.rstrip(".,:").isdecimal()}
        assert not given or given != again


def test_who_has_not_read_the_chapter_meets_no_marked_term_and_no_abbreviation():
    for item in ITEMS.values():
        for words in (item.question, *(one.text for one in item.options)):
            assert "#term-" not in words.en
            assert not {"KV", "TTFT", "ITL", "TPOT"} & set(words.en.replace(",", " ").split())


# -- what sim says -----------------------------------------------------------------------------


def passes():
    return len(list(steps(keys.served((6,), 25, Chunked(1)))))


def in_the_server():
    lengths = workload.FixedLength(16), workload.FixedLength(30)
    load = workload.Workload(400, workload.ConstantArrivals(8.0), *lengths)
    run = simulate(Setup(load.requests(), Chunked(256), keys.ROOM, keys.SimpleClock(1e12, 0.1)))
    summary = metrics.summarize(run)
    assert summary.e2e.mean == pytest.approx(3.0, abs=0.1)
    return summary.e2e.mean * summary.num_served / summary.duration_seconds


def tpot():
    record = Record(Request(0, 0.0, 16, 21), 0.0, np.linspace(0.3, 1.3, 21), (), 0, False)
    return 1000 * metrics.tpot(record)


def utilization():
    return 100 * float(slot_grid(keys.served((20, 80), 1, Static(2)), keys.TICK).utilization[-1])


def kept():
    return sizes.batch_bytes(specs.MODELS["Llama-2-7B"], (100, 300, 800)) / 2**20


def places():
    return 16 * keys.ROOM.open().num_blocks_for(50) - 50


def grown_by():
    q, p = np.full((4, 6), 1 / 6), np.full((5, 6), 1 / 6)
    p[1] = np.eye(6)[5]  # the target would never say the second proposal
    num_accepted, token = speculative.verify((0, 1, 2, 3), q, p, np.random.default_rng(0))
    return len(speculative.Round((0, 1, 2, 3), q, p, num_accepted, token).tokens)


def launching():
    clock = Roofline(specs.MODELS["Llama-3.2-1B"], H100)  # 16 layers
    return 1000 * Eager.of_microseconds(clock, 12, 20).launching_seconds


NUMBERS = {
    "01": passes,
    "03": tpot,
    "04": in_the_server,
    "05": utilization,
    "06": kept,
    "07": places,
    "10": grown_by,
    "11": launching,
}


@pytest.mark.parametrize("name", NUMBERS)
def test_the_number_is_what_sim_computes(name):
    assert number(name) == pytest.approx(NUMBERS[name](), rel=0.05)


def test_eight_more_cost_a_step_hardly_anything():
    clock = Roofline(LLAMA, H100)
    eight, sixteen = (clock.step_time(phases.decode(batch, 256)).seconds for batch in (8, 16))
    assert option("02") == "About as long"
    assert sixteen < 1.1 * eight


def test_a_sentence_in_front_leaves_nothing_to_find():
    yesterday, today = chain.chain(range(64), 16), chain.chain((99, *range(64)), 16)
    assert option("08") == "nothing"
    assert set(yesterday).isdisjoint(today)


def test_in_pieces_the_chats_gain_and_the_document_pays():
    whole, pieces = (
        stalls.by_prompt(runs.run(observed.with_documents(budget)), 8_000) for budget in (None, 512)
    )
    assert option("09").startswith("the chats")
    assert pieces[0].itl.max < whole[0].itl.max / 10
    assert whole[1].ttft.mean < pieces[1].ttft.mean < 1.5 * whole[1].ttft.mean


def test_lighter_weights_leave_what_a_token_takes_in_memory():
    bf16, int4 = (StoredModel(LLAMA, H100, weights).model for weights in ("bf16", "int4"))
    assert option("12") == "nothing changes"
    assert bf16.kv_bytes_per_token == int4.kv_bytes_per_token


def test_an_assembly_line_of_gpus_is_a_little_slower_for_one():
    alone = parallel.Spread(LLAMA, H100, 1, "pipeline").itl_seconds(1, 1_024)
    four = parallel.Spread(LLAMA, H100, 4, "pipeline").itl_seconds(1, 1_024)
    assert option("13") == "a little slower"
    assert 1 < four / alone < 2


def test_the_last_question_describes_a_run_whose_limit_binds():
    log = evidence.late(observed.limited(16))
    assert (log.num_running, log.num_waiting) == (16, 120)
    assert log.kv_usage == pytest.approx(0.2, abs=0.02)
    assert option("14").startswith("a limit")


def test_each_is_held_against_sim_somewhere():
    assert set(NUMBERS) | {"02", "08", "09", "12", "13", "14"} == set(ITEMS)


# -- what is kept of it ------------------------------------------------------------------------


def test_an_answer_is_kept_as_a_guess_and_comes_back_as_it_was(session):
    item = ITEMS["05"]
    assert progress.beforehand(item) == ("open", None)
    progress.keep_beforehand(item, 2)
    assert progress.beforehand(item) == ("answered", 2)
    text = json.dumps(
        {"guesses": {name: progress._bare(g) for name, g in progress.guesses().items()}}
    )
    session.clear()
    progress._take_guesses(text)
    assert progress.beforehand(item) == ("answered", 2)


@pytest.mark.parametrize("answer", [4, -1, 1.0, "1", True])
def test_an_answer_that_it_cannot_have_leaves_it_open(session, answer):
    progress.guesses()["before/05"] = {"state": "answered", "answers": {"option": answer}}
    assert progress.beforehand(ITEMS["05"]) == ("open", None)


def test_who_skips_is_not_asked_again_nor_who_came_by_a_link(session, monkeypatch):
    item, linked = ITEMS["05"], False
    monkeypatch.setattr(beforehand.state, "came_by_link", lambda: linked)
    assert not beforehand.is_asked(item)  # the browser has not said yet what it keeps
    session["_progress_known"] = True
    assert beforehand.is_asked(item)
    linked = True
    assert not beforehand.is_asked(item)
    linked = False
    progress.keep_beforehand(item, None)
    assert progress.beforehand(item) == ("skipped", None)
    assert not beforehand.is_asked(item)


def test_it_is_no_mark_and_the_progress_page_shows_what_changed(session):
    right = next(place for place, one in enumerate(ITEMS["05"].options) if one.right)
    progress.keep_beforehand(ITEMS["05"], right)
    progress.keep_beforehand(ITEMS["07"], 1)
    progress.keep_beforehand(ITEMS["09"], None)
    assert answers.marks() == {}
    assert progress_view.changes() == [("05", True, None), ("07", False, None)]
    answers.marks()[ITEMS["07"].after] = Mark(12.0, False, 1)
    assert progress_view.changes() == [("05", True, None), ("07", False, True)]
