"""K and V come back as they were written, wherever they lie."""

import numpy as np
import pytest

from sim.errors import SimError
from sim.model.kv_store import BlockPool, ContiguousStore, KvStore, PagedStore
from tests.sim.model.tiny import random_weights

MODEL = random_weights().model
RNG = np.random.default_rng(0)


def both() -> tuple[KvStore, KvStore]:
    """Two stores with room for 12 tokens; the paged one has its blocks out of order."""
    return ContiguousStore(MODEL, 12), PagedStore(BlockPool(MODEL, 6, block_size=4), [5, 1, 3])


def some(num_tokens: int) -> np.ndarray:
    """K and V of new tokens, in that order."""
    return RNG.normal(size=(2, num_tokens, MODEL.kv_heads, MODEL.head_dim)).astype(np.float32)


@pytest.mark.parametrize("store", both(), ids=["contiguous", "paged"])
def test_what_is_written_in_pieces_is_read_as_a_whole(store):
    kept = []
    for num_tokens in (5, 1, 6):
        kept.append(some(num_tokens))
        store.write(1, *kept[-1])
        store.num_tokens += num_tokens
    keys, values = np.concatenate(kept, axis=1)
    assert np.array_equal(store.read(1, 12)[0], keys)
    assert np.array_equal(store.read(1, 7)[1], values[:7])
    assert not np.any(store.read(0, 12))  # the other layer


@pytest.mark.parametrize("store", both(), ids=["contiguous", "paged"])
def test_what_is_forgotten_is_written_over(store):
    first, second = some(4), some(3)
    store.write(0, *first)
    store.num_tokens = 2
    store.write(0, *second)
    assert np.array_equal(store.read(0, 5)[0], np.concatenate([first[0, :2], second[0]]))


@pytest.mark.parametrize("store", both(), ids=["contiguous", "paged"])
def test_a_full_store_says_so(store):
    store.num_tokens = 10
    with pytest.raises(SimError) as error:
        store.write(0, *some(3))
    assert error.value.code == "kv_store_full"
    assert error.value.values == {"num_tokens": 13, "room": 12}


def test_tokens_lie_where_the_block_table_says():
    pool = BlockPool(MODEL, 6, block_size=4)
    keys, values = some(6)
    PagedStore(pool, [5, 1]).write(0, keys, values)
    assert np.array_equal(pool.slots[0, 0, 20:24], keys[:4])  # block 5
    assert np.array_equal(pool.slots[0, 1, 4:6], values[4:])  # block 1
    assert np.count_nonzero(pool.slots.any(axis=(-1, -2))) == 2 * 6  # and nowhere else


def test_a_block_table_may_grow():
    table = [2]
    store = PagedStore(BlockPool(MODEL, 6, block_size=4), table)
    table.append(4)
    store.write(0, *some(8))


def test_a_token_takes_the_bytes_that_the_cost_model_counts():
    assert ContiguousStore(MODEL, 10).slots.nbytes == 10 * MODEL.kv_bytes_per_token
