"""The pool while requests come and leave: every block with its references, and the free queue.

Six requests come, answer and leave.  Two beginnings, S and T, are asked for again later; which of
them is still there depends on the blocks of the pool.
"""

from collections.abc import Sequence

from sim.request import Request, Segment
from sim.views import visits
from sim.views.visits import Block, Move
from ui.player.painters.shelves import Box, Shelf, Shelves
from ui.subjects.prefix import block_notes
from ui.theme import request_letter
from ui.words.language import tr

BLOCK_SIZE = 4  # tokens: few, so that every block can be seen
TEXT_S, TEXT_T = (Segment("S", 12),), (Segment("T", 8),)
RETURNS_TO_S, RETURNS_TO_T = 4, 5
VISITORS = (
    Request(0, 0.0, 18, 2, TEXT_S),
    Request(1, 0.0, 16, 4, TEXT_S),
    Request(2, 0.0, 14, 4, TEXT_T),
    Request(3, 0.0, 24, 4),  # shares nothing with anybody
    Request(RETURNS_TO_S, 0.0, 17, 3, TEXT_S),
    Request(RETURNS_TO_T, 0.0, 12, 4, TEXT_T),
)
MOVES: tuple[tuple[visits.Kind, int], ...] = (
    ("comes", 0),
    ("comes", 1),
    ("answers", 0),
    ("leaves", 0),
    ("answers", 1),
    ("leaves", 1),
    ("comes", 2),
    ("answers", 2),
    ("leaves", 2),
    ("comes", 3),
    ("answers", 3),
    ("leaves", 3),
    ("comes", RETURNS_TO_S),
    ("answers", RETURNS_TO_S),
    ("leaves", RETURNS_TO_S),
    ("comes", RETURNS_TO_T),
    ("answers", RETURNS_TO_T),
    ("leaves", RETURNS_TO_T),
)
EVENTS = {"comes": "admitted", "answers": "", "leaves": "released"}


def moves(num_blocks: int) -> list[Move]:
    """All of it, in a pool of so many blocks."""
    return visits.walk(VISITORS, MOVES, num_blocks, BLOCK_SIZE)


def walk(moves: Sequence[Move], alt: str) -> Shelves:
    """One step for each move, after one in which nobody has been there."""
    num_blocks = len(moves[0].blocks)
    empty = tuple(Block(number + 1, None, (), is_findable=False) for number in range(num_blocks))
    start = Move("leaves", -1, (), (), (), empty, tuple(block.id for block in empty))
    every = (start, *moves)
    return Shelves(
        shelves=(
            Shelf(
                tr("池里的块：编号 × 引用计数", "Blocks of the pool: number × references"),
                tuple(tuple(_box(block, move) for block in move.blocks) for move in every),
                counters=tuple(_counter(move) for move in every),
            ),
            Shelf(
                tr("空闲队列：从左边取，还到右边", "Free queue: taken left, given back right"),
                tuple(_queued(move) for move in every),
            ),
        ),
        notes=(block_notes.before_anybody(num_blocks), *map(block_notes.moved, moves)),
        events=tuple((EVENTS[move.kind],) if EVENTS[move.kind] else () for move in every),
        alt=alt,
    )


def _box(block: Block, move: Move) -> Box:
    users = " ".join(request_letter(who) for who in block.users)
    return Box(
        _kind(block, move),
        f"{block.id} ×{len(block.users)}",
        (_content(block), users or " "),
        ring=block.id in (*move.found, *move.taken),
    )


def _queued(move: Move) -> tuple[Box, ...]:
    """No request waits here, but blocks: free ones, cached or not."""
    by_id = {block.id: block for block in move.blocks}
    return tuple(Box(_kind(by_id[id], move), str(id), (_content(by_id[id]),)) for id in move.queue)


def _content(block: Block) -> str:
    shows = block.content is not None and (block.users or block.is_findable)
    return block_notes.content(*block.content) if block.content and shows else "–"


def _kind(block: Block, move: Move) -> str:
    if block.id in move.found:
        return "cached"
    if block.id in move.taken:
        return "prefill" if move.kind == "comes" else "decode"
    if block.users:
        return "in_use"
    return "findable" if block.is_findable else "free"


def _counter(move: Move) -> str:
    in_use = sum(1 for block in move.blocks if block.users)
    return tr(f"在用 {in_use} / {len(move.blocks)}", f"{in_use} of {len(move.blocks)} in use")
