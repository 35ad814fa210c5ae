"""The loop: one pass for the prompt, one for every further token."""

from itertools import islice

import numpy as np
import pytest

from sim.errors import SimError
from sim.model.generation import Decoder, generate
from sim.model.sampling import GREEDY, Sampling
from sim.model.tokenizer import Tokenizer
from tests.sim.model.tiny import encoder, random_weights, target

WARM = Sampling(temperature=0.8, top_k=40, top_p=0.95)


def decoder(num_tokens: int = 40) -> Decoder:
    return Decoder.with_room(random_weights(), num_tokens)


def test_the_first_token_needs_no_decode_step():
    one = decoder()
    next(generate(one, [3, 1, 4], 9, GREEDY))
    assert one.store.num_tokens == 3  # the token itself has no K and V yet


def test_each_further_token_is_one_pass_over_one_token():
    one = decoder()
    lengths = [one.store.num_tokens for _ in generate(one, [3, 1, 4], 4, GREEDY)]
    assert lengths == [3, 4, 5, 6]


def test_greedy_takes_the_largest_logit():
    for step in generate(decoder(), [3, 1, 4], 9, GREEDY):
        assert step.token == step.logits.argmax()


def test_the_same_seed_gives_the_same_text():
    def text(seed):
        return [step.token for step in generate(decoder(), [3], 20, Sampling(), seed)]

    assert text(1) == text(1) != text(2)


def test_what_is_forgotten_is_computed_again():
    one = decoder()
    whole = one.extend([3, 1, 4, 1, 5])
    one.keep(2)
    again = one.extend([3, 1, 4, 1, 5])
    assert np.abs(again - whole[2:]).max() < 1e-4
    one.keep(99)
    assert one.store.num_tokens == 5


def test_an_empty_prompt_and_a_full_store_are_refused():
    with pytest.raises(SimError, match="prompt_empty"):
        next(generate(decoder(), [], 1, GREEDY))
    with pytest.raises(SimError, match="kv_store_full"):
        list(generate(decoder(num_tokens=4), [3, 1, 4], 3, GREEDY))


@pytest.mark.parametrize("prompt", ["连续批处理", "A request that"])
def test_the_shipped_model_writes_on_to_the_end_of_a_paragraph(prompt):
    """Greedily, in the language of the prompt, without half characters."""
    written = written_on(encoder(), prompt)
    assert written
    assert "\ufffd" not in written
    in_chinese = sum("\u4e00" <= character <= "\u9fff" for character in written)
    assert (in_chinese > len(written) / 2) == (prompt == "连续批处理")


def written_on(tokenizer: Tokenizer, prompt: str) -> str:
    tokens = tokenizer.prompt(prompt)
    steps = generate(Decoder.with_room(target(), 400), tokens, 300, GREEDY)
    ends = iter(lambda: next(steps).token, tokenizer.end)
    return tokenizer.decode(islice(ends, 300))
