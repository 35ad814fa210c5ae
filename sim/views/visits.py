"""Requests come, answer and leave, one move at a time: what that does to the blocks of a pool.

No clock and no scheduler, only the memory itself (`kv.paged`): who finds which blocks, how many use
a block, which ones nobody uses, and which of those is taken next.
"""

from collections.abc import Iterable
from collections.abc import Sequence as Row
from dataclasses import dataclass
from typing import Literal

from sim.errors import require
from sim.events import Evicted
from sim.kv import Paged
from sim.request import Request, Sequence

Kind = Literal["comes", "answers", "leaves"]


@dataclass(frozen=True)
class Block:
    """One block after a move.

    `content`: whose tokens lie in it (a segment's name, or the id of a request) and where in the
    prompt, in blocks from 0; None before it is first used.  `users`: the requests that hold it.
    `is_findable`: it is full and known by its hash.
    """

    id: int
    content: tuple[str | int, int] | None
    users: tuple[int, ...]
    is_findable: bool


@dataclass(frozen=True)
class Move:
    """What one request did, and the pool afterwards.

    `found`, `taken`: blocks from the cache, and from the head of the queue; `evicted`: what lay in
    those that still carried a prefix; `queue`: block ids, the one that is taken next first.
    """

    kind: Kind
    request_id: int
    found: tuple[int, ...]
    taken: tuple[int, ...]
    evicted: tuple[tuple[str | int, int], ...]
    blocks: tuple[Block, ...]
    queue: tuple[int, ...]


def walk(
    requests: Row[Request], order: Iterable[tuple[Kind, int]], num_blocks: int, block_size: int
) -> list[Move]:
    """The moves in order; each is (what, which request).  All of `num_blocks` can be used.

    Raises:
        SimError: `pool_too_small` when somebody does not fit beside those who are there.
    """
    memory = Paged(num_blocks + 1, block_size).open()
    guests = {request.id: Sequence(request) for request in requests}
    contents: dict[int, tuple[str | int, int]] = {}
    moves = []
    for kind, who in order:
        guest, found, before = guests[who], list[int](), dict(contents)
        held = list(memory.block_tables.get(who, ()))
        if kind == "leaves":
            memory.free(guest)
        else:
            found = memory.match_prefix(guest) if kind == "comes" else []
            fits = memory.allocate(guest, _write(guest, kind), found)
            require(fits, "pool_too_small", request_id=who, free_blocks=memory.num_free_blocks)
        taken = memory.block_tables.get(who, [])[len(held) + len(found) :]
        contents |= {
            block: _content(guest.request, len(held) + len(found) + place, block_size)
            for place, block in enumerate(taken)
        }
        evicted = [event.block_id for event in memory.events if isinstance(event, Evicted)]
        memory.events.clear()
        moves.append(
            Move(
                kind,
                who,
                tuple(found),
                tuple(taken),
                tuple(before[block] for block in evicted),
                tuple(
                    Block(
                        block,
                        contents.get(block),
                        tuple(id for id, table in memory.block_tables.items() if block in table),
                        memory.can_be_found(block),
                    )
                    for block in range(1, num_blocks + 1)
                ),
                tuple(memory.free_queue),
            )
        )
    return moves


def _write(guest: Sequence, kind: Kind) -> int:
    """The answer, if it is its turn.  Returns the tokens whose K and V are needed: the newest token
    of an answer is not computed."""
    if kind == "comes":
        return guest.num_tokens
    for _ in range(guest.request.output_tokens):
        guest.append_token()
    return guest.num_tokens - 1


def num_found(moves: Iterable[Move], request_id: int) -> int:
    """Blocks that a request found when it came."""
    return sum(len(move.found) for move in moves if move.request_id == request_id)


def _content(request: Request, place: int, block_size: int) -> tuple[str | int, int]:
    """The segment that a block lies in from beginning to end, else the request."""
    start = 0
    for segment in request.prefix:
        end = start + segment.num_tokens
        if start <= place * block_size and (place + 1) * block_size <= end:
            return segment.id, place
        start = end
    return request.id, place
