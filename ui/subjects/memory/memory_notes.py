"""What happens to KV memory in a step, in one sentence: who gets what, who waits and why.

Two ways of speaking: of contiguous memory in sizes and holes, of paged memory in blocks.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from sim import events
from sim.engine import Step
from sim.views.forks import ForkStep
from ui.theme import request_letter
from ui.words.language import tr
from ui.words.notes import names
from ui.words.numbers import memory

Table = Mapping[int, Sequence[int]]
Size = Callable[[float], str]  # slots in words
Kind = TypeVar("Kind")


def kept(
    step: Step, tokens: Sequence[int], request_ids: Sequence[int], bytes_per_token: float
) -> str:
    """Whose tokens lie in KV memory, and who is about to give theirs back.

    `tokens`: of each of `request_ids`, while the step runs.
    """
    total = sum(tokens)
    present = [
        f"{request_letter(who)} {some:,}"
        for who, some in zip(request_ids, tokens, strict=True)
        if some
    ]
    size = memory(total * bytes_per_token)
    whole = f" = {total:,}" if len(present) > 1 else ""
    parts = [f"{' + '.join(present)}{whole} {tr('token', 'tokens')} · {size}"]
    if step.finished:
        back = sum(tokens[list(request_ids).index(who)] for who in step.finished)
        who = names(step.finished)
        parts.append(tr(f"{who} 写完，归还 {back:,} 个", f"{who} done: gives back {back:,}"))
    return tr("；".join(parts) + "。", "; ".join(parts) + ".")


def of_holes(
    step: Step, table: Table, waiting: Sequence[tuple[int, int]], free: int, hole: int, size: Size
) -> str:
    """Contiguous: `table` has the slots of each request, `waiting` who asks for how many.

    `free` slots in all, `hole` in the largest piece.
    """
    parts = []
    for event in step.events:
        match event:
            case events.Compacted():
                copied = size(event.num_tokens)
                parts.append(
                    tr(
                        f"先把各段挪到一起，搬了 {copied}",
                        f"first all pieces are pushed together: {copied} copied",
                    )
                )
            case events.Admitted():
                who, much = names([event.request_id]), size(len(table[event.request_id]))
                parts.append(tr(f"{who} 得到连续的 {much}", f"{who} gets {much} in one piece"))
    for first, slots in waiting[:1]:
        letter, much = names([first]), size(slots)
        parts.append(
            tr(
                f"{letter} 要连续的 {much}；空闲一共 {size(free)}，最大的空洞只有 {size(hole)}，"
                "只好等",
                f"{letter} needs {much} in one piece; {size(free)} are free, but the largest hole "
                f"has {size(hole)}, so it waits",
            )
        )
    return _sentence([*parts, *_done(step, table, size)] or [_writing(step)])


def of_blocks(step: Step, table: Table, before: Table, first: int) -> str:
    """Paged: `table` has the blocks of each request in this step, `before` in the one before; they
    count from 0 and are called from `first` on."""
    parts = [_preempted(event) for event in _all(step, events.Preempted)]
    parts += [_joined(event, len(table[event.request_id])) for event in _all(step, events.Admitted)]
    newcomers = {event.request_id for event in _all(step, events.Admitted)}
    evicted = {event.block_id - first for event in _all(step, events.Evicted)}
    for who, blocks in table.items():
        taken = blocks[len(before.get(who, ())) :]
        if taken and who not in newcomers:
            parts.append(_takes(names([who]), _numbers(taken, first), bool(evicted & set(taken))))
    if not parts and step.waiting:
        line = names(step.waiting)
        parts.append(tr(f"{line} 排队等块", f"waiting for blocks: {line}"))
    for who in step.finished:
        letter, much = names([who]), len(table[who])
        parts.append(
            tr(f"{letter} 写完，归还 {much} 块", f"{letter} is done and returns {much} blocks")
        )
    return _sentence(parts or [_writing(step)])


def of_forks(step: ForkStep, first: int) -> str:
    """Answers to one prompt: who goes on from whom, who copies a shared block before writing."""
    forked = [event for event in step.events if isinstance(event, events.Forked)]
    copied = [event for event in step.events if isinstance(event, events.CopiedOnWrite)]
    others = [(f.parent_id, f.child_id) for f in forked if f.parent_id != f.child_id]
    parts = []
    if others and len(others) == len(forked):  # from the prompt
        who = names(child for _, child in others)
        parts.append(
            tr(
                f"{who} 从 A 分叉：指向同样的块，什么也不复制",
                f"{who} fork from A: same blocks, nothing is copied"
                if len(others) > 1
                else f"{who} forks from A: same blocks, nothing is copied",
            )
        )
    elif forked:
        pairs = [(names([child]), names([parent])) for parent, child in others]
        listed = tr("，", ", ").join(
            tr(f"{child} 改接 {parent}", f"{child} goes on from {parent}")
            for child, parent in pairs
        )
        parts.append(listed or tr("每个束都留下", "every beam survives"))
    for event in copied:
        who = names([event.sequence_id])
        shared, own = event.shared_block + first, event.own_block + first
        parts.append(
            tr(
                f"{who} 要写共用的块 {shared}，先复制成块 {own}",
                f"{who} is to write into shared block {shared}: copied to {own} first",
            )
        )
    if not parts and len(step.tables) == 1:
        return tr("提示词的 KV 写好了，只有 A。", "The KV of the prompt is there; only A so far.")
    if not parts:
        who = names(step.tables)
        parts.append(tr(f"{who} 各写 1 个 token", f"{who} write one token each"))
    return _sentence(parts)


def fork_kinds(step: ForkStep) -> tuple[str, ...]:
    kinds = {events.Forked: "forked", events.CopiedOnWrite: "copied"}
    return tuple(dict.fromkeys(kinds[type(event)] for event in step.events))


def kinds(step: Step, known: set[int]) -> tuple[str, ...]:
    """Where a player stops: who comes, finds no room (once), is thrown out, is done.

    `known`: who was refused before; those of this step are added.
    """
    refused = {event.request_id for event in _all(step, events.PoolFull)} & set(step.waiting)
    happened = {
        "admitted": bool(_all(step, events.Admitted)),
        "pool_full": bool(refused - known),
        "preempted": bool(_all(step, events.Preempted)),
        "finished": bool(step.finished),
    }
    known |= refused
    return tuple(kind for kind, has_happened in happened.items() if has_happened)


# -- inside -----------------------------------------------------------------------------------


def _preempted(event: events.Preempted) -> str:
    who = names([event.request_id])
    return tr(
        f"块用完了：最后进来的 {who} 被抢占，{event.lost_tokens} 个 token 的 KV 作废，"
        "写出的文字还在",
        f"no block is left: {who}, the newest, is preempted; the KV of {event.lost_tokens} tokens "
        "is dropped, the text stays",
    )


def _joined(event: events.Admitted, num_blocks: int) -> str:
    who, hit = names([event.request_id]), event.hit_tokens
    if not event.resumed:
        return tr(
            f"{who} 加入，先拿 {num_blocks} 块",
            f"{who} joins with {num_blocks} {'block' if num_blocks == 1 else 'blocks'}",
        )
    if not hit:
        return tr(
            f"{who} 回来了：它的 KV 一点也找不回来，全部重算",
            f"{who} is back: nothing of its KV is left, all is computed again",
        )
    return tr(
        f"{who} 回来了：{hit} 个 token 的 KV 还在缓存里，其余重算",
        f"{who} is back: the KV of {hit} tokens is still in the cache, the rest is computed again",
    )


def _takes(who: str, numbers: str, overwrites: bool) -> str:
    if overwrites:
        return tr(
            f"{who} 拿到{numbers}，里面能命中的旧内容被覆盖",
            f"{who} takes {numbers} and overwrites what could be found there",
        )
    return tr(f"{who} 拿到{numbers}", f"{who} takes {numbers}")


def _numbers(blocks: Sequence[int], first: int) -> str:
    listed = [str(block + first) for block in blocks]
    joined = tr("、", ", ").join(listed)
    return tr(f"块 {joined}", f"{'block' if len(listed) == 1 else 'blocks'} {joined}")


def _done(step: Step, table: Table, size: Size) -> list[str]:
    return [
        tr(
            f"{names([who])} 写完，归还 {size(len(table[who]))}",
            f"{names([who])} is done and gives {size(len(table[who]))} back",
        )
        for who in step.finished
    ]


def _writing(step: Step) -> str:
    who = names(work.request_id for work in step.work)
    if len(step.work) == 1:
        return tr(f"{who} 写 1 个 token", f"{who} writes one token")
    return tr(f"{who} 各写 1 个 token", f"{who} write one token each")


def _all(step: Step, kind: type[Kind]) -> list[Kind]:
    return [event for event in step.events if isinstance(event, kind)]


def _sentence(parts: Sequence[str]) -> str:
    said = "; ".join(parts)
    return tr("；".join(parts) + "。", said[0].upper() + said[1:] + ".")
