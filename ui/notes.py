"""What the simulation reports, in words: one function per event, both languages side by side.

`sim` yields typed events and errors with values; nothing else in the project words them.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from sim import events, traces
from sim.engine import Step, StepWork
from sim.errors import SimError
from sim.stations import Journey, Station
from ui.language import tr
from ui.numbers import memory, seconds
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


def shares(step: Step, alone_seconds: float, prompt_tokens: Mapping[int, int]) -> str:
    """Who computes how much of a step, and how long it takes for whom; short enough for one line.

    `alone_seconds`: how long it would have taken without its prefills; `prompt_tokens`: by request.
    """
    first = [event.request_id for event in step.events if isinstance(event, events.FirstToken)]
    done = [event.request_id for event in step.events if isinstance(event, events.Finished)]
    pieces = [_piece(work, prompt_tokens) for work in step.work if work.is_prefill]
    decoding = [work.request_id for work in step.work if not work.is_prefill]
    parts = []
    if pieces:
        listed = tr("、", ", ").join(pieces)
        parts.append(tr(f"预填充：{listed}", f"Prefill: {listed}"))
    if first:
        parts.append(tr(f"首个 token：{names(first)}", f"First token: {names(first)}"))
    if decoding:
        parts.append(tr(f"解码：{names(decoding)}", f"Decode: {names(decoding)}"))
    if done:
        parts.append(tr(f"写完：{names(done)}", f"Done: {names(done)}"))
    lasts, alone = seconds(step.seconds), seconds(alone_seconds)
    if 0 < alone_seconds < step.seconds:
        lasts = tr(f"{lasts}，本来 {alone}", f"{lasts} instead of {alone}")
    return tr("；".join([*parts, lasts]) + "。", ". ".join([*parts, lasts]) + ".")


def _piece(work: StepWork, prompt_tokens: Mapping[int, int]) -> str:
    """A piece of a prompt, and how far that has come: "D 509 (1,018 of 8,192)"."""
    who, total = names([work.request_id]), prompt_tokens[work.request_id]
    if work.context == total:  # its first token says so
        return f"{who} {work.num_tokens:,}"
    so_far = tr(f"（{work.context:,} / {total:,}）", f" ({work.context:,} of {total:,})")
    return f"{who} {work.num_tokens:,}{so_far}"


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


def where_it_turns(loads: Sequence[float]) -> str:
    """Where a difference changes sign along the load, as the predicate of a sentence."""
    if not loads:
        return tr("始终没有变号", "never changes sign")
    places = tr("、", ", ").join(f"{load:.1f}" for load in loads)
    return tr(f"在每秒 {places} 个请求处变号", f"changes sign at {places} requests per second")


def later_or_sooner(difference: float) -> str:
    """A difference of moments, in seconds: -0.0806 -> "80.6 ms sooner"."""
    much = seconds(abs(difference))
    if difference < 0:
        return tr(f"早 {much}", f"{much} sooner")
    return tr(f"晚 {much}", f"{much} later")


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


# -- one sentence per station of a request -----------------------------------------------------


def station_note(station: Station, journey: Journey, words: Sequence[str]) -> str:
    """What a request has just behind it; `words` are its output tokens as text."""
    who, token = names([station.request_id]), station.token
    prompt_tokens = journey.request.prompt_tokens
    match station.kind:
        case "tokenize":
            return tr(
                f"CPU 把提示词切成了 {prompt_tokens:,} 个 token。",
                f"The CPU has cut the prompt into {prompt_tokens:,} tokens.",
            )
        case "queue":
            return tr(
                f"别人的那一步做完了，{who} 进入下一步。",
                f"The others' step is over; {who} is part of the next.",
            )
        case "prefill":
            return tr(
                f"预填充完成：{prompt_tokens:,} 个位置一次算完。最后一个位置的 logits 就是 "
                f"token {token} 的。",
                f"Prefill is done: {prompt_tokens:,} positions at once. The logits of the last one "
                f"are those of token {token}.",
            )
        case "decode":
            return tr(
                f"解码一步：读入 token {token - 1}，算出 token {token} 的 logits。",
                f"A decode step: token {token - 1} goes in, the logits of token {token} come out.",
            )
        case "sample" if token == 1:
            return tr(
                f"直接从预填充的 logits 采样，token 1 有了。{who} 还没有做过一步解码。",
                f"Token 1 is sampled straight from the prefill's logits. {who} has not decoded.",
            )
        case "sample":
            return tr(f"采样得到 token {token}。", f"Token {token} is sampled.")
        case _:
            return _seen_note(token, journey, words)


def _seen_note(token: int, journey: Journey, words: Sequence[str]) -> str:
    word = words[token - 1]
    if token == 1:
        ttft = seconds(journey.ttft)
        return tr(
            f"“{word}”出现在屏幕上。从到达算起 {ttft}，这就是 TTFT。",
            f"“{word}” is on the screen, {ttft} after the arrival: this is the TTFT.",
        )
    gap = seconds(journey.seen_seconds[token - 1] - journey.seen_seconds[token - 2])
    return tr(
        f"“{word}”出现，距上一个 {gap}，这是一个 ITL。",
        f"“{word}” appears, {gap} after the one before: this is one ITL.",
    )


def stream_note(token: int, num_waiting: int, gap_seconds: float) -> str:
    """A token of a streamed answer was sampled, the last of `num_waiting` that were kept back; they
    leave as a message, `gap_seconds` after the one before, unless that is 0.
    """
    if not gap_seconds:
        return tr(
            f"token {token} 产出，先攒着：已有 {num_waiting} 个。",
            f"Token {token} is there but kept back; {num_waiting} so far.",
        )
    gap = seconds(gap_seconds)
    if token == 1:
        return tr(
            f"token 1 产出，立刻发出：客户端的 TTFT 是 {gap}。",
            f"Token 1 is there and sent at once: the client's TTFT is {gap}.",
        )
    return tr(
        f"token {token} 产出，{num_waiting} 个一起发出。客户端离上一条消息 {gap}。",
        f"Token {token} is there, and {num_waiting} leave together, {gap} after the last message."
        if num_waiting > 1
        else f"Token {token} is there and leaves, {gap} after the last message.",
    )


# -- errors -----------------------------------------------------------------------------------


def as_typed(text: str) -> str:
    """Text of the reader's own, with nothing in it that Markdown would act on or nobody can see."""
    visible = "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
    return MARKDOWN.sub(r"\\\g<0>", visible)


def text_cut(letters: int, text: str, tokens_left_out: int = 0) -> str:
    """What became of a text that is too long, if it is: `letters` were given, `text` is used."""
    said = []
    if letters > len(text):
        said += [
            tr(
                f"一共 {letters:,} 个字符，这里只用前 {len(text):,} 个。",
                f"Of {letters:,} characters only the first {len(text):,} are used here.",
            )
        ]
    if tokens_left_out:
        said += [
            tr(
                f"token 太多，最后 {tokens_left_out} 个没有读进去。",
                f"Too many tokens: the last {tokens_left_out} are not read.",
            )
        ]
    return tr("", " ").join(said)


def trace_format(name: str) -> str:
    """The name of a format in `sim.traces.FORMATS`."""
    return {
        "azure": "Azure",
        "burstgpt": "BurstGPT",
        "plain": tr("普通 CSV", "plain CSV"),
        "measured": tr("实测记录 JSONL", "measured-run JSONL"),
    }[name]


def _trace_formats(names: Iterable[str] = traces.FORMATS) -> str:
    """Each format with the columns that it is known by."""
    known = [
        tr(
            f"{trace_format(name)}（{'、'.join(traces.FORMATS[name])}）",
            f"{trace_format(name)} ({', '.join(traces.FORMATS[name])})",
        )
        for name in names
    ]
    return tr("；", "; ").join(known)


def error(problem: SimError) -> str:
    """A message in the reader's language: what is wrong, where, and what was expected."""
    values = problem.values
    line, column, value = (values.get(name, "") for name in ("line", "column", "value"))
    value = as_typed(str(value))
    expected = {
        "timestamp": tr(
            "形如 2023-11-16 18:15:46.68 的时间", "a time such as 2023-11-16 18:15:46.68"
        ),
        "time_in_seconds": tr(
            f"不小于 0、不大于 {traces.MAX_SECONDS:,} 的秒数",
            f"a number of seconds between 0 and {traces.MAX_SECONDS:,}",
        ),
        "time_in_span": tr(
            f"与其余各行相差不超过 {traces.MAX_SECONDS:,} 秒的时间",
            f"a time within {traces.MAX_SECONDS:,} seconds of all other rows",
        ),
        "time_in_order": tr(
            "不早于前一个时刻的时间"
            "（依次为 queued_ts、scheduled_ts、first_token_ts、last_token_ts）",
            "a time no earlier than the one before it "
            "(queued_ts, scheduled_ts, first_token_ts, last_token_ts)",
        ),
        "count": tr(
            f"不小于 1、不大于 {traces.MAX_TOKENS:,} 的整数",
            f"a whole number between 1 and {traces.MAX_TOKENS:,}",
        ),
        "present": tr("一个值", "a value"),
    }.get(str(values.get("expected")), str(values.get("expected", "")))
    known = tr("、", ", ").join(map(str, values.get("known", ())))  # type: ignore[call-overload]
    of_format = _trace_formats([str(values["format"])] if "format" in values else [])
    of_formats = _trace_formats(values.get("formats", ()))  # type: ignore[arg-type]
    separator = (
        tr("制表符", "tabs") if values.get("separator") == "\t" else tr("分号", "semicolons")
    )
    messages = {
        "trace_empty": tr(
            f"文件是空的。能读的格式：{_trace_formats()}。",
            f"The file is empty. These formats can be read: {_trace_formats()}.",
        ),
        "trace_no_rows": tr(
            f"第 {line} 行是列名，格式是“{of_format}”，但后面没有数据行，应为每行一个请求。",
            f"Line {line} holds the column names of the format {of_format}, but no rows follow; "
            "one request per line was expected.",
        ),
        "trace_all_failed": tr(
            f"全部 {value} 行都是失败的请求（token 数为 0），没有可以重放的。",
            f"All {value} rows are failed requests (0 tokens); there is nothing to replay.",
        ),
        "trace_nul": tr(
            f"第 {line} 行有空字符（NUL）。文件可能是 UTF-16 编码或二进制文件，应为 UTF-8 文本。",
            f"Line {line} holds a NUL character. The file may be UTF-16 or binary; "
            "UTF-8 text was expected.",
        ),
        "trace_unknown_format": tr(
            f"第 {line} 行：“{value}”不属于任何已知格式。能读的格式：{_trace_formats()}。",
            f"Line {line}: “{value}” belongs to no known format. "
            f"These formats can be read: {_trace_formats()}.",
        ),
        "trace_ambiguous": tr(
            f"第 {line} 行（列名行）同时符合几种格式：{of_formats}。请只留下一种格式的列。",
            f"Line {line} (column names) fits several formats: {of_formats}. "
            "Keep the columns of only one.",
        ),
        "trace_column_twice": tr(
            f"第 {line} 行：列 {column} 出现了不止一次，应只有一个。",
            f"Line {line}: the column {column} is there more than once; only one was expected.",
        ),
        "trace_not_commas": tr(
            f"第 {line} 行（列名行）用{separator}分隔，应为逗号；小数点应为“.”。",
            f"Line {line} (column names) is separated by {separator}; commas were expected, "
            "and points in decimal numbers.",
        ),
        "trace_not_csv": tr(
            f"第 {line} 行不是合法的 CSV：可能有引号没有成对，或者单元格太长。",
            f"Line {line} is not valid CSV: a quote may be unpaired, or a cell far too long.",
        ),
        "trace_not_json": tr(
            f"第 {line} 行不是合法的 JSON 对象。文件以 {{ 开头，因此每行应为一个 JSON 对象。",
            f"Line {line} is not a valid JSON object. "
            "The file begins with {, so one JSON object per line was expected.",
        ),
        "trace_not_text": tr(
            "文件不是 UTF-8 文本，应为逗号分隔的 CSV 或 JSONL。",
            "The file is not UTF-8 text; comma-separated CSV or JSONL was expected.",
        ),
        "trace_column_missing": tr(
            f"第 {line} 行缺少列 {column}。最接近的格式是“{of_format}”，它的各列都要有。",
            f"Line {line} lacks the column {column}. The nearest format is {of_format}; "
            "all of its columns were expected.",
        ),
        "trace_bad_value": tr(
            f"第 {line} 行，列 {column}：读到“{value}”，应为{expected}。",
            f"Line {line}, column {column}: found “{value}”, expected {expected}.",
        ),
        "measurement_cut_short": tr(
            "这台机器太忙，没有量完。过一会儿再试。",
            "This machine was too busy to finish measuring. Try again in a while.",
        ),
        "model_does_not_fit": tr(
            f"{values.get('model')} 的权重放不进 {values.get('gpu')} 的显存，没有地方留给 KV。"
            "换一个更小的模型或显存更大的 GPU。",
            f"The weights of {values.get('model')} leave no room for KV on {values.get('gpu')}. "
            "Choose a smaller model or a GPU with more memory.",
        ),
        "heads_not_divisible": tr(
            f"{values.get('model')} 有 {values.get('q_heads')} 个查询头、"
            f"{values.get('kv_heads')} 个 KV 头，无法均分到 {value} 张 GPU 上。"
            "换一个张量并行度。",
            f"{values.get('model')} has {values.get('q_heads')} query heads and "
            f"{values.get('kv_heads')} KV heads, which cannot be shared out evenly among "
            f"{value} GPUs. Choose another tensor parallel degree.",
        ),
        "tensor_parallel_unknown": tr(
            f"张量并行度是 {value}，应为其中之一：{known}。",
            f"The tensor parallel degree is {value}; expected one of {known}.",
        ),
        "format_unknown": tr(
            f"不认识数据格式“{value}”，应为其中之一：{known}。",
            f"“{value}” is not a known data type; expected one of {known}.",
        ),
        "speed_infinite": tr(
            "速度和时间应为有限的数，不能是无穷大。",
            "Speeds and times must be finite; infinity was given.",
        ),
        "no_progress": tr(
            f"没有进展：队首的请求 {values.get('request_id')} 永远等不到足够的 KV 块。",
            f"No progress: request {values.get('request_id')} at the head of the queue "
            "can never get the KV blocks it needs.",
        ),
        "seed_negative": tr(
            f"随机种子是 {value}，应为不小于 0 的整数。",
            f"The random seed is {value}; a whole number of at least 0 was expected.",
        ),
        "cv_out_of_range": tr(
            f"到达间隔的变异系数是 {value}，应在 {values.get('lowest')} 到 "
            f"{values.get('highest')} 之间；1 就是泊松到达。",
            f"The coefficient of variation of the arrival gaps is {value}; it must lie between "
            f"{values.get('lowest')} and {values.get('highest')}, where 1 is Poisson.",
        ),
        "length_range_empty": tr(
            f"长度的下限 {values.get('low')} 大于上限 {values.get('high')}。",
            f"The shortest length, {values.get('low')}, is above the longest, "
            f"{values.get('high')}.",
        ),
        "num_users_below_one": tr(
            f"用户数是 {value}，应至少为 1。",
            f"The number of users is {value}; at least one was expected.",
        ),
        "think_time_negative": tr(
            f"思考时间是 {value} 秒，应不小于 0。",
            f"The think time is {value} s; at least 0 was expected.",
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
