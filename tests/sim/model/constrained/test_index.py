"""Constrained decoding with the real tiny model: on, the format holds; off, it need not."""

import json
from itertools import pairwise

import numpy as np
import pytest

from sim.model.constrained import index as constrained
from sim.model.constrained import json_schema
from sim.model.constrained.automaton import compiled
from sim.model.constrained.index import Index
from sim.model.generation import Decoder, generate
from sim.model.sampling import Sampling
from ui import tiny_model

PROMPT = tiny_model.prompt("Continuous batching 连续批处理每一步都")
SCHEMA = json_schema.pattern(
    '{"type":"object","properties":{"engine":{"enum":["vLLM","SGLang"]},'
    '"paged":{"type":"boolean"}}}'
)
FORMATS = (SCHEMA, r"20\d\d-(0[1-9]|1[0-2])", "(预填充|解码)[，。]?", r"[a-z]{3}\d+")
NUM_TOKENS = 32


def index_of(pattern):
    return Index.of(compiled(pattern), tiny_model.encoder())


def written(pattern, temperature=0.7, seed=0, **how):
    index = index_of(pattern)
    decoder = Decoder.with_room(tiny_model.target(), len(PROMPT) + NUM_TOKENS)
    sampling = Sampling(temperature)
    return index, list(constrained.write(decoder, PROMPT, index, NUM_TOKENS, sampling, seed, **how))


def text_of(pieces):
    return tiny_model.encoder().decode(piece.token for piece in pieces)


@pytest.mark.parametrize("pattern", FORMATS)
@pytest.mark.parametrize("temperature", [0, 1.5])
@pytest.mark.parametrize("jumps", [False, True])
def test_with_the_mask_no_token_leaves_the_format(pattern, temperature, jumps):
    for seed in range(2):
        index, pieces = written(pattern, temperature, seed, jumps=jumps)
        machine = compiled(pattern)
        data = b"".join(index.tokenizer.pieces[piece.token] for piece in pieces)
        assert machine.walk(0, data) != machine.dead
        if pieces[-1].token == index.tokenizer.end or len(pieces) < NUM_TOKENS:
            assert machine.accepts(text_of(pieces))


def test_json_that_is_complete_can_be_parsed():
    for seed in range(3):
        _, pieces = written(SCHEMA, seed=seed)
        found = json.loads(text_of(pieces))
        assert set(found) == {"engine", "paged"}
        assert found["engine"] in ("vLLM", "SGLang")


def test_without_the_mask_the_model_writes_what_it_always_writes_and_breaks_the_format():
    index, pieces = written(SCHEMA, is_masked=False)
    decoder = Decoder.with_room(tiny_model.target(), len(PROMPT) + NUM_TOKENS)
    free = generate(decoder, PROMPT, len(pieces), Sampling(0.7), seed=0)
    assert [piece.token for piece in pieces] == [one.token for one in free]
    assert pieces[0].after == index.dead
    assert pieces[-1].after == index.dead


def test_a_mask_allows_exactly_the_tokens_whose_bytes_lead_on():
    machine, tokenizer = compiled(SCHEMA), tiny_model.encoder()
    index = Index.of(machine, tokenizer)
    for state in (0, 5, 11, machine.num_states - 1):
        allowed = index.allowed(state)
        for token, piece in enumerate(tokenizer.pieces):
            if token == tokenizer.end:
                assert allowed[token] == machine.accepting[state]
            else:
                assert allowed[token] == (machine.walk(state, piece) != machine.dead)


def test_forbidden_tokens_get_nothing_and_the_others_keep_their_odds():
    _, pieces = written(SCHEMA, temperature=1)
    for piece in pieces:
        assert piece.used[~piece.allowed].sum() == 0
        share = piece.free[piece.allowed].sum()
        if share > 1e-9:
            expected = piece.free[piece.allowed] / share
            np.testing.assert_allclose(piece.used[piece.allowed], expected, atol=1e-9)


def test_the_state_after_a_token_is_the_state_before_the_next():
    _, pieces = written(SCHEMA, jumps=True)
    assert pieces[0].state == 0
    for one, other in pairwise(pieces):
        assert other.state == one.after


def test_jumping_saves_passes_and_asks_the_model_only_where_there_is_a_choice():
    index, slow = written(SCHEMA)
    _, fast = written(SCHEMA, jumps=True)
    assert constrained.num_passes(slow) == len(slow)
    assert constrained.num_passes(fast) < len(fast) / 4
    for piece in fast:
        if not piece.is_forced:
            assert index.forced(piece.state) == []


def test_a_jump_from_the_middle_of_a_character_ends_that_character_first():
    index = index_of("(预填充|解码)")
    first, *rest = "解".encode()
    tokens = index.forced(index.after[0, first])
    assert tokens[: len(rest)] == rest
    assert index.tokenizer.decode([first, *tokens]) == "解码"


def test_what_is_forced_ends_where_there_is_a_choice_or_the_text_may_end():
    def forced(pattern, after=b""):
        index = index_of(pattern)
        state = 0
        for byte in after:
            state = int(index.after[state, byte])
        return index.tokenizer.decode(index.forced(state))

    assert forced(r'\{"a":(1|2)}') == '{"a":'
    assert forced(r'\{"a":(1|2)}', b'{"a":1') == "}"
    assert forced("ab?") == "a"
    assert forced(r"a\.b\*") == "a.b*"


def test_half_a_character_is_a_state_from_which_only_its_other_half_leads_on():
    index = index_of("中")
    first, second, _ = "中".encode()
    state = index.after[0, first]
    assert not index.may_end(state)
    assert index.tokenizer.pieces[int(np.flatnonzero(index.allowed(state))[0])][0] == second
    assert index.num_allowed[state] >= 1


def test_a_limit_can_come_before_the_end_of_the_format():
    index, pieces = written("a{200}")
    assert len(pieces) == NUM_TOKENS
    assert not index.may_end(pieces[-1].after)


def test_a_mask_looks_at_every_byte_of_the_vocabulary():
    looks = constrained.num_lookups(tiny_model.encoder())
    assert looks == sum(map(len, tiny_model.encoder().pieces))


def test_the_dead_state_is_none_of_its_states():
    index = index_of("ab")
    assert index.num_states == index.dead == len(index.num_allowed)
