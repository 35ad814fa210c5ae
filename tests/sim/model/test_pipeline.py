"""One text through every station: what each hands on is what the parts give by themselves."""

from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.model.generation import Decoder, generate
from sim.model.pipeline import passage
from sim.model.sampling import GREEDY, Sampling
from tests.sim.model.tiny import CHINESE, ENGLISH, MIXED, TEXTS, encoder, target


def through(text, num_tokens=6, sampling=GREEDY, clock=lambda: 0.0, **more):
    return passage(encoder(), target(), text, num_tokens, sampling, clock, **more)


@pytest.mark.parametrize("sampling", [GREEDY, Sampling(0.8, top_p=0.9)])
@pytest.mark.parametrize("text", TEXTS)
def test_it_writes_what_the_plain_loop_writes(text, sampling):
    prompt = encoder().prompt(text)
    decoder = Decoder.with_room(target(), len(prompt) + 6)
    plain = [one.token for one in generate(decoder, prompt, 6, sampling, seed=3)]
    end = plain.index(encoder().end) + 1 if encoder().end in plain else 6
    assert list(through(text, 6, sampling, seed=3).answer) == plain[:end]


def test_the_first_pass_takes_the_whole_prompt_and_every_other_one_row():
    way = through(ENGLISH)
    assert [turn.num_new for turn in way.turns] == [len(way.prompt), 1, 1, 1, 1, 1]


def test_as_many_passes_as_tokens_so_the_first_token_needs_no_decode():
    for num_tokens in (1, 2, 8):
        way = through(CHINESE, num_tokens)
        assert len(way.turns) == len(way.answer) <= num_tokens
        assert [turn.step.work[0].is_prefill for turn in way.turns][:2] == [True, False][
            :num_tokens
        ]


def test_the_last_token_has_no_kv_yet():
    way = through(ENGLISH)
    held = way.turns[-1].step.work[0].context
    assert held == len(way.prompt) + len(way.answer) - 1


def test_attention_is_shares_of_what_came_before():
    way = through(ENGLISH)
    for turn in way.turns:
        layers, heads, num_new, num_tokens = turn.attention.shape
        assert (layers, heads, num_new) == (4, 4, turn.num_new)
        assert num_tokens == turn.step.work[0].context
        np.testing.assert_allclose(turn.attention.sum(axis=-1), 1, rtol=1e-5)
        first = num_tokens - num_new
        for row in range(num_new):
            assert (turn.attention[:, :, row, first + row + 1 :] == 0).all()
            assert (turn.attention[:, :, row, : first + row + 1] > 0).all()


@settings(max_examples=15, deadline=None)
@given(st.text(max_size=20))
def test_any_text_comes_through_and_no_byte_is_lost(text):
    way = through(text, 4)
    assert way.text == encoder().decode(way.answer)


def test_bytes_wait_until_their_character_is_whole():
    """Sampling hot enough to hit single bytes now and then."""
    ways = [through(MIXED, 12, Sampling(3.0), seed=seed) for seed in range(4)]
    turns = [turn for way in ways for turn in way.turns]
    assert any(turn.waiting for turn in turns)
    for turn in turns:
        assert len(turn.waiting) <= 3
        assert "\ufffd" in (turn.waiting + b"\xff").decode("utf-8", "replace")


def test_it_ends_where_the_model_ends_its_text():
    ways = [through(ENGLISH, 40, Sampling(1.5), seed=seed) for seed in range(6)]
    short = [way for way in ways if len(way.turns) < 40]
    assert short
    assert all(way.answer[-1] == encoder().end for way in short)


def test_a_long_text_is_cut_where_the_caller_says():
    assert len(through(ENGLISH * 9, 1, max_prompt_tokens=20).prompt) == 20


def test_times_are_read_from_the_clock_that_is_given_and_none_is_lost():
    """A clock that goes on by one at each look: a station lies between two looks."""
    ticks = count(7)
    way = through(ENGLISH, 2, clock=lambda: float(next(ticks)))
    assert way.tokenize_seconds == 1
    for turn in way.turns:
        times = turn.times
        assert (times.schedule, times.forward, times.sample, times.detokenize) == (1, 1, 1, 1)
        assert times.total == 4


HAS_NOTHING_TO_SAY = "我今天想吃火锅，你呢？"  # the model ends at once


def test_whoever_asks_for_so_many_tokens_gets_them_before_the_end():
    assert [turn.token for turn in through(HAS_NOTHING_TO_SAY).turns] == [encoder().end]
    held = through(HAS_NOTHING_TO_SAY, 6, min_tokens=4)
    assert encoder().end not in held.answer[:4]
    assert len(held.answer) >= 4
    assert held.is_held
    assert held.turns[0].would_end
    assert held.turns[0].logits.argmax() == encoder().end


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_that_does_not_end_is_the_same_whatever_is_asked_for(text):
    plain = through(text)
    if encoder().end not in plain.answer:
        asked = through(text, min_tokens=6)
        assert asked.answer == plain.answer
        assert not asked.is_held
