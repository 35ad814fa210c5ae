"""The tape of real rounds: every moment in order, bars that are the models' own, any text."""

import dataclasses

import numpy as np
import pytest

from tests.chapters import LANGUAGES
from ui import player, tiny_model
from ui.player.painters import tape
from ui.subjects.speculation import pictures, speculation_notes, written_rounds
from ui.words import language

TEXT = "Continuous batching 连续批处理每一步都"
HOSTILE = (
    "",
    " ",
    "🙂" * 40,
    "مرحبا بالعالم",
    "<img src=x onerror=alert(1)> **b** $x$",
    "\u202eabc",
    "x" * 160,
)


@pytest.fixture(autouse=True)
def _english(monkeypatch):
    monkeypatch.setattr(language, "current", lambda: "en")


def told(text=TEXT, num_proposed=4, temperature=0.7, seed=15):
    rounds = written_rounds.rounds(text, num_proposed, temperature, seed)
    return rounds, written_rounds.as_tape(text, rounds, "a tape")


def phases(frames, number):
    return [(m.phase, m.place) for m in frames.moments if m.round == number]


def test_a_round_is_proposals_one_pass_acceptances_and_the_token_that_follows():
    rounds, frames = told()
    for number, one in enumerate(rounds):
        k, accepted = len(one.proposed), one.num_accepted
        ends = [("bonus", k)] if accepted == k else [("reject", accepted), ("correct", accepted)]
        assert phases(frames, number) == [
            *(("propose", place) for place in range(k)),
            ("verify", 0),
            *(("accept", place) for place in range(accepted)),
            *ends,
        ]


def test_the_same_text_and_seed_give_the_same_rounds_and_another_seed_others():
    words = [[one.tokens for one in told(seed=seed)[0]] for seed in (1, 1, 2)]
    assert words[0] == words[1] != words[2]


def test_bars_are_the_two_models_probabilities_and_together_all_of_them():
    rounds, frames = told()
    for one, shown in zip(rounds, frames.rounds, strict=True):
        for place, bars in enumerate(shown.places):
            assert len(bars) == written_rounds.NUM_BARS + 1
            assert sum(bar.p for bar in bars) == pytest.approx(1)
            names = [bar.token for bar in bars]
            wanted = {*shown.proposed[place : place + 1]}
            if place == one.num_accepted:
                wanted |= {shown.token}
            assert wanted <= set(names)
            first = max(range(len(one.p[place])), key=lambda token: one.p[place, token])
            assert tiny_model.piece(first) in names
            if place < len(one.proposed):
                token = one.proposed[place]
                bar = bars[names.index(tiny_model.piece(token))]
                assert (bar.p, bar.q) == (one.p[place, token], one.q[place, token])
                assert sum(bar.q for bar in bars) == pytest.approx(1)


def test_the_player_stops_at_rejections_corrections_and_bonuses():
    _, frames = told()
    stops = {
        moment.phase for moment, kinds in zip(frames.moments, frames.events, strict=True) if kinds
    }
    assert stops == {"reject", "correct", "bonus"} & {moment.phase for moment in frames.moments}


def test_the_note_of_the_last_moment_of_a_round_counts_accepted_plus_one():
    rounds, frames = told()
    number = next(n for n, one in enumerate(rounds) if one.num_accepted == 3)
    at = max(step for step, moment in enumerate(frames.moments) if moment.round == number)
    assert frames.notes[at].endswith("3 accepted and one correction make 4.")


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_gives_frames_that_can_be_sent(text, code, monkeypatch):
    monkeypatch.setattr(language, "current", lambda: code)
    _, frames = told(text, num_proposed=8, temperature=1.0)
    player.check(frames)
    payload = player.encode(frames)
    assert player.weight(payload) <= player.MAX_BYTES
    assert payload["at"] is None  # nothing had to be thinned
    assert all(frames.notes)


def test_tokens_are_isolated_in_a_sentence_so_that_none_turns_it_around():
    note = speculation_notes.corrected(0, "مر")
    assert "\u2068مر\u2069" in note


def test_the_same_rounds_are_the_same_frames_in_either_language(monkeypatch):
    _, english = told()
    monkeypatch.setattr(language, "current", lambda: "zh")
    _, chinese = told()
    assert player.encode(english)["id"] == player.encode(chinese)["id"]
    assert english.notes != chinese.notes


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"prompt": ()}, "at least one token"),
        (
            {
                "moments": (tape.TapeMoment(9, "verify", 0),),
                "notes": ("",),
                "events": ((),),
                "times": (),
            },
            "outside the",
        ),
        (
            {
                "moments": (tape.TapeMoment(0, "sleep", 0),),
                "notes": ("",),
                "events": ((),),
                "times": (),
            },
            "none of the phases",
        ),
        (
            {
                "moments": (tape.TapeMoment(0, "verify", 7),),
                "notes": ("",),
                "events": ((),),
                "times": (),
            },
            "outside the places",
        ),
    ],
)
def test_a_tape_that_contradicts_itself_is_refused(wrong, says):
    with pytest.raises(player.FramesError, match=says):
        player.check(dataclasses.replace(told()[1], **wrong))


def test_fewer_steps_keep_their_moments():
    _, frames = told()
    fewer = frames.take(np.array([0, 4, 8]))
    assert fewer.moments == tuple(frames.moments[step] for step in (0, 4, 8))
    assert fewer.rounds == frames.rounds


def test_shares_keep_two_digits_however_small():
    shares = [speculation_notes.share(value) for value in (1, 0.5, 0.0374, 0.000044, 0)]
    assert shares == ["100%", "50%", "3.7%", "0.0044%", "0%"]


def test_a_label_in_a_chart_is_no_html():
    _, right, wrong = pictures.both_rules("a <b> c <i> d", 1.0, 0)
    figure = pictures.counted(right, wrong)
    assert not [text for text in figure.layout.yaxis.ticktext if "<" in text]


def test_the_best_number_of_proposals_is_marked_also_where_it_is_another():
    figure = pictures.speedup_over_k(0.7, 0.1, 8, 4)
    labels = [trace.text[0] for trace in figure.data if trace.text]
    assert labels == ["best k = 4: 1.98×", "k = 8: 1.78×"]
    (label,) = [t.text[0] for t in pictures.speedup_over_k(0.7, 0.1, 4, 4).data if t.text]
    assert label == "k = 4: 1.98×, the best"
