"""The hash chain of a prompt beside that of a cached one, looked up block by block."""

from collections.abc import Sequence

from sim.kv.chain import ChainBlock, Fate, Lookup
from ui import tiny_model
from ui.player.painters.shelves import Box, Shelf, Shelves
from ui.subjects.prefix import block_notes
from ui.words.language import tr


def walk(lookup: Lookup, alt: str) -> Shelves:
    """One step before anything is looked up, then one for each block of the new prompt."""
    asked, cached, fate = lookup.asked, lookup.cached, lookup.fates
    steps = range(len(asked) + 1)
    missed = [index for index, one in enumerate(fate) if one != "hit"]
    return Shelves(
        shelves=(
            Shelf(
                tr("缓存里有的哈希", "Hashes in the cache"),
                tuple(_cached_boxes(cached, asked[:done], fate[:done]) for done in steps),
            ),
            Shelf(
                tr("新提示词", "The new prompt"),
                tuple(_asked_boxes(asked, fate, done) for done in steps),
                chained=True,
                counters=tuple(_counter(asked[:done], fate[:done]) for done in steps),
            ),
        ),
        notes=(
            block_notes.before_lookup(len(asked), sum(len(block.tokens) for block in asked)),
            *(
                block_notes.looked_up(index + 1, block, fate[index], missed[:1] == [index])
                for index, block in enumerate(asked)
            ),
        ),
        events=((), *(("first_miss",) if missed[:1] == [i] else () for i in range(len(asked)))),
        alt=alt,
    )


def _cached_boxes(
    cached: Sequence[ChainBlock], done: Sequence[ChainBlock], fate: Sequence[Fate]
) -> tuple[Box, ...]:
    """What the cache knows of a prompt: no text, only hashes.  The one found just now is ringed."""
    found = done[-1].hash if done and fate[-1] in ("hit", "last") else None
    return tuple(
        Box("stored", block_notes.short_hash(block), ring=block.hash == found)
        for block in cached
        if block.hash is not None
    )


def _asked_boxes(
    asked: Sequence[ChainBlock], fate: Sequence[Fate], num_done: int
) -> tuple[Box, ...]:
    boxes = []
    for index, (block, one) in enumerate(zip(asked, fate, strict=True)):
        known = index < num_done
        kind = "unseen" if not known else "cached" if one == "hit" else "prefill"
        head = block_notes.short_hash(block) if known else "?"
        boxes.append(Box(kind, head, _pieces(block), ring=index == num_done - 1))
    return tuple(boxes)


def _counter(done: Sequence[ChainBlock], fate: Sequence[Fate]) -> str:
    reused = sum(len(block.tokens) for block, one in zip(done, fate, strict=True) if one == "hit")
    computed = sum(len(block.tokens) for block in done) - reused
    return tr(f"复用 {reused} 个，要算 {computed} 个", f"{reused} reused, {computed} computed")


def _pieces(block: ChainBlock) -> tuple[str, ...]:
    return tuple(tiny_model.piece(token) for token in block.tokens if isinstance(token, int))
