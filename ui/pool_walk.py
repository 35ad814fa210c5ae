"""The pool while requests come and leave: every block with its references, and the free queue."""

from collections.abc import Sequence

from sim.visits import Block, Move
from ui import block_notes
from ui.language import tr
from ui.painters.shelves import Box, Shelf, Shelves
from ui.theme import request_letter

EVENTS = {"comes": "admitted", "answers": "", "leaves": "released"}


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
