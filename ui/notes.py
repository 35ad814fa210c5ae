"""What the simulation reports, in words: one function per event, both languages side by side.

`sim` yields typed events and errors with values; nothing else in the project words them.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from sim import events
from sim.engine import Step
from sim.errors import SimError
from ui.language import tr
from ui.theme import request_letter

MARKDOWN = re.compile(r"[\\`*_{}\[\]()#~$:<>&|]")
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
    events.Admitted: admitted,
    events.FirstToken: first_token,
    events.BlockFull: block_full,
    events.Evicted: evicted,
    events.PoolFull: pool_full,
    events.Preempted: preempted,
    events.Finished: finished,
    events.Released: released,
}

# Events a player may stop at, by the names it knows them under.
KINDS: dict[type, str] = {
    events.Rejected: "rejected",
    events.Admitted: "admitted",
    events.FirstToken: "first_token",
    events.BlockFull: "block_full",
    events.PoolFull: "pool_full",
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


# -- errors -----------------------------------------------------------------------------------


def _as_typed(text: str) -> str:
    """Text of the reader's own, with nothing in it that Markdown would act on."""
    return MARKDOWN.sub(r"\\\g<0>", text)


def error(problem: SimError) -> str:
    """A message in the reader's language: what is wrong, where, and what was expected."""
    values = problem.values
    line, column, value = (values.get(name, "") for name in ("line", "column", "value"))
    value = _as_typed(str(value))
    expected = {
        "timestamp": tr(
            "形如 2023-11-16 18:15:46.68 的时间", "a time such as 2023-11-16 18:15:46.68"
        ),
        "count": tr("不小于 1 的整数", "a whole number of at least 1"),
        "present": tr("一个值", "a value"),
    }.get(str(values.get("expected")), str(values.get("expected", "")))
    messages = {
        "trace_empty": tr(
            f"文件里没有数据行。第一行应是列名 {expected}，之后每行一个请求。",
            f"The file has no rows. Its first line should name the columns {expected}, "
            "then one request per line.",
        ),
        "trace_not_csv": tr(f"第 {line} 行不是合法的 CSV。", f"Line {line} is not valid CSV."),
        "trace_too_long": tr(
            f"第一个请求就要输出 {value} 个 token，这里一次最多模拟 {values.get('most')} 个。",
            f"The first request alone asks for {value} output tokens; "
            f"at most {values.get('most')} are simulated here at once.",
        ),
        "trace_not_text": tr(
            "文件不是 UTF-8 文本，应为逗号分隔的 CSV。",
            "The file is not UTF-8 text; comma-separated CSV was expected.",
        ),
        "trace_column_missing": tr(
            f"第 {line} 行（列名行）缺少列 {column}。"
            "需要 TIMESTAMP、ContextTokens、GeneratedTokens。",
            f"Line {line} (column names) lacks the column {column}. "
            "TIMESTAMP, ContextTokens and GeneratedTokens are needed.",
        ),
        "trace_bad_value": tr(
            f"第 {line} 行，列 {column}：读到“{value}”，应为{expected}。",
            f"Line {line}, column {column}: found “{value}”, expected {expected}.",
        ),
        "model_does_not_fit": tr(
            f"{values.get('model')} 的权重放不进 {values.get('gpu')} 的显存，没有地方留给 KV。"
            "换一个更小的模型或显存更大的 GPU。",
            f"The weights of {values.get('model')} leave no room for KV on {values.get('gpu')}. "
            "Choose a smaller model or a GPU with more memory.",
        ),
        "no_progress": tr(
            f"没有进展：队首的请求 {values.get('request_id')} 永远等不到足够的 KV 块。",
            f"No progress: request {values.get('request_id')} at the head of the queue "
            "can never get the KV blocks it needs.",
        ),
        "p99_out_of_range": tr(
            "长度的 p99 应不小于均值，且不超过均值的约 15 倍。",
            "The p99 of a length must be at least its mean and at most about 15 times the mean.",
        ),
    }
    return messages.get(
        problem.code,
        tr(f"这组设置无法模拟：{problem}", f"These settings cannot be simulated: {problem}"),
    )
