"""The same requests through both kinds of prefix cache: what hashed blocks find, what the tree.

One request after the other, so only the caches differ: `kv.paged` shares whole blocks and evicts
block by block, `kv.radix` shares to the token and evicts leaf by leaf.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sim.cost import Roofline, phases
from sim.errors import require
from sim.kv.paged import Paged
from sim.kv.radix import RadixTree
from sim.request import Request, Segment
from sim.request import Sequence as Running
from sim.specs import Interconnect


def found_in_blocks(
    requests: Sequence[Request], num_slots: int, block_size: int
) -> tuple[int, ...]:
    """Prompt tokens found for each request, [num_requests].

    Raises:
        SimError: `slots_too_few`.
    """
    memory = Paged.for_tokens(num_slots, block_size).open()
    found = []
    for request in requests:
        sequence = Running(request)
        hits = memory.match_prefix(sequence)
        fits = memory.allocate(sequence, request.total_tokens, hits)
        require(fits, "slots_too_few", needed=request.total_tokens, num_slots=num_slots)
        memory.free(sequence)
        found.append(len(hits) * block_size)
    return tuple(found)


def found_in_tree(requests: Sequence[Request], num_slots: int) -> tuple[int, ...]:
    """Prompt tokens found for each request, [num_requests]; at page size 1.

    Raises:
        SimError: `slots_too_few`.
    """
    tree, free = RadixTree(), list(range(num_slots))
    found = []
    for request in requests:
        tokens = [request.block_content(place, 1) for place in range(request.total_tokens)]
        match = tree.match(tokens[: request.prompt_tokens - 1])  # the last one's logits are needed
        tree.lock(match.node)
        missing = request.total_tokens - match.num_tokens
        free += tree.evict(max(0, missing - len(free)))
        fits = missing <= len(free)
        require(fits, "slots_too_few", needed=request.total_tokens, num_slots=num_slots)
        own = [free.pop() for _ in range(missing)]
        known = tree.insert(tokens, [*match.slots, *own])
        free += own[: known - match.num_tokens]  # a last token that was there already
        tree.unlock(match.node)
        found.append(match.num_tokens)
    return tuple(found)


def beginning_alike(shared_tokens: int, own_tokens: int, num_requests: int) -> tuple[Request, ...]:
    """Prompts with the same `shared_tokens` first and `own_tokens` of their own after them."""
    prefix = (Segment("shared", shared_tokens),)
    prompt = shared_tokens + own_tokens
    return tuple(Request(who, float(who), prompt, 1, prefix) for who in range(num_requests))


def document_between_others(
    document_tokens: int, question_tokens: int, other_tokens: int, num_rounds: int
) -> tuple[Request, ...]:
    """Questions about one document, and after each a prompt that has nothing to do with it."""
    document = (Segment("document", document_tokens),)
    requests: list[Request] = []
    for _ in range(num_rounds):
        who = len(requests)
        asked = document_tokens + question_tokens
        requests.append(Request(who, float(who), asked, 1, document))
        requests.append(Request(who + 1, float(who + 1), other_tokens, 1))
    return tuple(requests)


@dataclass(frozen=True)
class Comeback:
    """What a text costs whose KV is no longer on the GPU, and is needed again."""

    clock: Roofline
    link: Interconnect  # to the host's memory, at its full rate
    tokens: int

    @property
    def fetched_seconds(self) -> float:
        """If its KV was kept there."""
        return self.clock.model.kv_bytes(self.tokens) / self.link.bandwidth

    @property
    def computed_seconds(self) -> float:
        """If it was not."""
        return float(self.clock.step_time(phases.prefill(self.tokens)).seconds)


def hit_rate(requests: Sequence[Request], found: Sequence[int]) -> float:
    """Share of all prompt tokens that were found."""
    return sum(found) / sum(request.prompt_tokens for request in requests)
