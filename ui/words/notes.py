"""What happened, in words: one function per event and per step, both languages side by side.

`sim` yields typed events, and they are worded here; those of a radix tree, of hashed blocks and of
forks in the notes of their subject, errors in `problems`.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from sim import events
from sim.engine import Step
from ui.theme import request_letter
from ui.words.language import tr

MARKDOWN = re.compile(r"[\\`*_{}\[\]()#~$:<>&|]")
FIRST_ISOLATE, POP_ISOLATE = "\u2068", "\u2069"
MAX_NAMES = 6  # a longer list is cut, with the rest as a number


def names(request_ids: Iterable[int]) -> str:
    """Requests by letter: "A、C" or "A, C"; long lists end in a number."""
    letters = [request_letter(who) for who in request_ids]
    rest = len(letters) - MAX_NAMES
    if rest <= 0 and len(letters) > 1:
        last = letters.pop()
        return tr("、".join([*letters, last]), f"{', '.join(letters)} and {last}")
    shown = tr("、", ", ").join(letters[:MAX_NAMES])
    return shown + tr(f" 等 {len(letters)} 个", f" and {rest} more") if rest > 0 else shown


def as_typed(text: str) -> str:
    """Text of the reader's own, with nothing in it that Markdown would act on or nobody can see."""
    visible = "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
    return MARKDOWN.sub(r"\\\g<0>", visible)


def quoted(token: str) -> str:
    """A reader's own text, isolated: a right-to-left one does not turn the sentence around."""
    return f"“{FIRST_ISOLATE}{token}{POP_ISOLATE}”"


def trace_format(name: str) -> str:
    """The name of a format in `sim.workload.traces.FORMATS`."""
    return {
        "azure": "Azure",
        "burstgpt": "BurstGPT",
        "plain": tr("普通 CSV", "plain CSV"),
        "measured": tr("实测记录 JSONL", "measured-run JSONL"),
        "mooncake": tr("Mooncake JSONL，毫秒", "Mooncake JSONL, in milliseconds"),
        "bailian": tr("百炼（Qwen）JSONL", "Bailian (Qwen) JSONL"),
        "sharegpt": tr("ShareGPT JSON，没有时间", "ShareGPT JSON, without times"),
    }[name]


# -- one function per event -------------------------------------------------------------------


def arrived(event: events.Arrived) -> str:
    who = names([event.request_id])
    return tr(f"{who} 到达，进入队列", f"{who} arrives and queues")


def rejected(event: events.Rejected) -> str:
    who = names([event.request_id])
    return tr(
        f"{who} 被拒绝：它需要 {event.needed_blocks} 个块，整个池子只有 {event.usable_blocks} 个",
        f"{who} is refused: it needs {event.needed_blocks} blocks, "
        f"the whole pool has {event.usable_blocks}",
    )


def too_long(event: events.TooLong) -> str:
    who = names([event.request_id])
    return tr(
        f"{who} 被拒绝：提示词 {event.prompt_tokens} 个 token，模型长度只有 {event.max_model_len}，"
        "放不下答案",
        f"{who} is refused: its prompt of {event.prompt_tokens} tokens leaves no room for an "
        f"answer within the model's {event.max_model_len}",
    )


def admitted(event: events.Admitted) -> str:
    who = names([event.request_id])
    if event.resumed:
        return tr(f"{who} 重新进入批次，从头补算 KV", f"{who} rejoins and recomputes its KV")
    if event.hit_tokens:
        return tr(
            f"{who} 加入，前 {event.hit_tokens} 个 token 命中缓存",
            f"{who} joins; its first {event.hit_tokens} tokens were cached",
        )
    return tr(f"{who} 加入批次", f"{who} joins the batch")


def first_token(event: events.FirstToken) -> str:
    who = names([event.request_id])
    return tr(f"{who} 的首个 token 产出", f"{who} gets its first token")


def block_full(event: events.BlockFull) -> str:
    who = names([event.request_id])
    return tr(f"{who} 写满了块 {event.block_id}", f"{who} has filled block {event.block_id}")


def evicted(event: events.Evicted) -> str:
    return tr(
        f"块 {event.block_id} 里的旧前缀被覆盖",
        f"the old prefix in block {event.block_id} is evicted",
    )


def pool_full(event: events.PoolFull) -> str:
    who = names([event.request_id])
    return tr(
        f"{who} 还要 {event.needed_blocks} 个块，池中只剩 {event.free_blocks} 个",
        f"{who} needs {event.needed_blocks} more blocks, the pool has {event.free_blocks}",
    )


def compacted(event: events.Compacted) -> str:
    return tr(
        f"全部挪到一起，搬了 {event.num_tokens} 个 token 的 KV",
        f"everything is pushed together; the KV of {event.num_tokens} tokens is copied",
    )


def preempted(event: events.Preempted) -> str:
    who = names([event.request_id])
    return tr(
        f"{who} 被抢占，{event.lost_tokens} 个 token 的 KV 作废",
        f"{who} is preempted and loses the KV of {event.lost_tokens} tokens",
    )


def finished(event: events.Finished) -> str:
    who = names([event.request_id])
    return tr(
        f"{who} 写完了 {event.output_tokens} 个 token",
        f"{who} is done after {event.output_tokens} tokens",
    )


def released(event: events.Released) -> str:
    who = names(event.request_ids)
    return tr(
        f"{who} 让出槽位",
        f"{who} give up their slots" if len(event.request_ids) > 1 else f"{who} gives up its slot",
    )


WORDS: dict[type, Callable[..., str]] = {
    events.Arrived: arrived,
    events.Rejected: rejected,
    events.TooLong: too_long,
    events.Admitted: admitted,
    events.FirstToken: first_token,
    events.BlockFull: block_full,
    events.Evicted: evicted,
    events.PoolFull: pool_full,
    events.Compacted: compacted,
    events.Preempted: preempted,
    events.Finished: finished,
    events.Released: released,
}

# Events a player may stop at, by the names it knows them under.
KINDS: dict[type, str] = {
    events.Rejected: "rejected",
    events.TooLong: "rejected",
    events.Admitted: "admitted",
    events.FirstToken: "first_token",
    events.BlockFull: "block_full",
    events.PoolFull: "pool_full",
    events.Compacted: "compacted",
    events.Preempted: "preempted",
    events.Finished: "finished",
    events.Released: "released",
}


# -- one sentence per step --------------------------------------------------------------------


def step_note(step: Step | None, held: Sequence[int] = (), stalled: Sequence[int] = ()) -> str:
    """One sentence: what just happened, or who makes progress when nothing did.

    `held`: requests that are done but keep their slot; `stalled`: running, but not in this step.
    """
    if step is None:
        return tr("服务器空闲，没有请求。", "The server is idle; nobody is here.")
    news = _grouped(step)
    parts = [*news, *_standing(step, held, stalled, is_quiet=not news)] or [
        tr("预填充继续", "prefill goes on")
    ]
    return tr("；".join(parts) + "。", "; ".join(parts) + ".")


def passed(step: Step) -> str:
    """How many rows go through the weights in a step, and what happens to KV meanwhile."""
    rows, read = step.num_tokens, sum(work.context - work.num_tokens for work in step.work)
    if any(work.is_prefill for work in step.work):
        what = tr(
            f"预填充：{rows:,} 行一起过权重，写下 {rows:,} 行 KV",
            f"Prefill: {rows:,} rows go through the weights together; KV rows written: {rows:,}",
        )
    else:
        what = tr(
            f"解码：{rows:,} 行，权重再读一遍；读 {read:,} 行 KV，写 {rows:,} 行",
            f"Decode: {rows:,} {'row' if rows == 1 else 'rows'}, and the weights are read again; "
            f"KV rows read: {read:,}, written: {rows:,}",
        )
    first = [event.request_id for event in step.events if isinstance(event, events.FirstToken)]
    parts = [what]
    if first:
        parts.append(tr(f"首个 token：{names(first)}", f"first token: {names(first)}"))
    if step.finished:
        parts.append(tr(f"写完：{names(step.finished)}", f"done: {names(step.finished)}"))
    return tr("；".join(parts) + "。", "; ".join(parts) + ".")


def kinds(step: Step | None) -> tuple[str, ...]:
    """The kinds of events in a step, each once, in order of appearance."""
    happened = [KINDS[type(event)] for event in step.events if type(event) in KINDS] if step else []
    return tuple(dict.fromkeys(happened))


def _grouped(step: Step) -> list[str]:
    """The events that matter for a sentence, with those of a kind said together."""
    by_kind: dict[type, list] = {}
    for event in step.events:
        by_kind.setdefault(type(event), []).append(event)
    parts = [rejected(event) for event in by_kind.get(events.Rejected, [])]
    parts += [too_long(event) for event in by_kind.get(events.TooLong, [])]
    parts += [preempted(event) for event in by_kind.get(events.Preempted, [])]
    joined = by_kind.get(events.Admitted, [])
    if len(joined) == 1:
        parts.append(admitted(joined[0]))
    elif joined:
        who = names(event.request_id for event in joined)
        parts.append(tr(f"{who} 一起加入，先做预填充", f"{who} join together and are prefilled"))
    done = by_kind.get(events.Finished, [])
    leaving = {who for event in by_kind.get(events.Released, []) for who in event.request_ids}
    staying = [event.request_id for event in done if event.request_id not in leaving]
    going = [event.request_id for event in done if event.request_id in leaving]
    if staying:
        parts.append(
            tr(
                f"{names(staying)} 写完了，但槽位不能让出",
                f"{names(staying)} are done but keep their slots"
                if len(staying) > 1
                else f"{names(staying)} is done but keeps its slot",
            )
        )
    if leaving - set(going):
        parts.append(
            tr("整批结束，所有槽位一起释放", "the whole batch is over: all slots are released")
        )
    elif going:
        parts.append(
            tr(
                f"{names(going)} 写完，槽位立刻空出",
                f"{names(going)} are done; their slots are free at once"
                if len(going) > 1
                else f"{names(going)} is done; the slot is free at once",
            )
        )
    return parts


def _standing(step: Step, held: Sequence[int], stalled: Sequence[int], is_quiet: bool) -> list[str]:
    """Who does not generate; and who does, said when no event tells more."""
    parts = []
    decoding = [work.request_id for work in step.work if not work.is_prefill]
    if decoding and is_quiet:
        parts.append(
            tr(f"{names(decoding)} 各生成 1 个 token", f"{names(decoding)} generate one token each")
            if len(decoding) > 1
            else tr(f"{names(decoding)} 生成 1 个 token", f"{names(decoding)} generates one token")
        )
    if held:
        parts.append(
            tr(f"{names(held)} 的槽位在空转", f"the slots of {names(held)} sit idle")
            if len(held) > 1
            else tr(f"{names(held)} 的槽位在空转", f"{names(held)}'s slot sits idle")
        )
    if stalled:
        parts.append(
            tr(f"{names(stalled)} 等这次预填充做完", f"{names(stalled)} wait for the prefill")
            if len(stalled) > 1
            else tr(f"{names(stalled)} 等这次预填充做完", f"{names(stalled)} waits for the prefill")
        )
    return parts
