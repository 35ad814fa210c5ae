"""What happened in a step, as typed facts.  `ui/words/notes.py` turns each into a sentence."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Arrived:
    request_id: int


@dataclass(frozen=True)
class Rejected:
    """Prompt + output can never fit the pool: refused on arrival instead of waiting forever."""

    request_id: int
    needed_blocks: int
    usable_blocks: int


@dataclass(frozen=True)
class TooLong:
    """The prompt leaves no room for an answer within the model's length: refused on arrival."""

    request_id: int
    prompt_tokens: int
    max_model_len: int


@dataclass(frozen=True)
class Admitted:
    """Joined `running`.  `hit_tokens` were found in the prefix cache and are not computed again."""

    request_id: int
    hit_tokens: int
    resumed: bool


@dataclass(frozen=True)
class FirstToken:
    request_id: int


@dataclass(frozen=True)
class BlockFull:
    """A KV block has all its tokens and can be found by its hash from now on."""

    request_id: int
    block_id: int


@dataclass(frozen=True)
class Evicted:
    """A free block that still carried a cached prefix was taken for new tokens."""

    block_id: int


@dataclass(frozen=True)
class PoolFull:
    """A request asked for blocks that are not there."""

    request_id: int
    needed_blocks: int
    free_blocks: int


@dataclass(frozen=True)
class Compacted:
    """All runs of contiguous memory were pushed together; so many tokens had to be copied."""

    num_tokens: int


@dataclass(frozen=True)
class Preempted:
    """A running request gave its blocks back and starts again from its tokens."""

    request_id: int
    lost_tokens: int


@dataclass(frozen=True)
class Finished:
    request_id: int
    output_tokens: int


@dataclass(frozen=True)
class Released:
    """Slots and memory given back.  In a static batch this is later than `Finished`."""

    request_ids: tuple[int, ...]


Event = (
    Arrived
    | Rejected
    | TooLong
    | Admitted
    | FirstToken
    | BlockFull
    | Evicted
    | PoolFull
    | Compacted
    | Preempted
    | Finished
    | Released
)


# -- in the radix tree --------------------------------------------------------------------------


@dataclass(frozen=True)
class PrefixHit:
    """A prompt begins with `num_tokens` cached tokens; the last of them end node `node_id`."""

    node_id: int
    num_tokens: int


@dataclass(frozen=True)
class NodeSplit:
    """A match ended inside a node: its first `num_tokens` are a node of their own, above it."""

    front_id: int
    tail_id: int
    num_tokens: int


@dataclass(frozen=True)
class NodeInserted:
    node_id: int
    parent_id: int
    num_tokens: int


@dataclass(frozen=True)
class NodeEvicted:
    """The least recently used leaf that nobody holds was dropped whole."""

    node_id: int
    num_tokens: int


TreeEvent = PrefixHit | NodeSplit | NodeInserted | NodeEvicted


# -- among answers that were forked --------------------------------------------------------------


@dataclass(frozen=True)
class Forked:
    """`child` goes on from all that `parent` has; nothing is copied."""

    parent_id: int
    child_id: int


@dataclass(frozen=True)
class CopiedOnWrite:
    """A shared block was not full: before the write its tokens were copied to a block of one's own.

    `num_tokens`: so many.
    """

    sequence_id: int
    shared_block: int
    own_block: int
    num_tokens: int


ForkEvent = Forked | CopiedOnWrite
