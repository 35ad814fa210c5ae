"""What happens to one text at each station of the pipeline, in words."""

from sim.engine import Step, StepWork
from sim.model.pipeline import Turn
from ui.words import notes
from ui.words.language import tr
from ui.words.numbers import count, percent


def arrived(text: str) -> str:
    size = len(text.encode("utf-8", "replace"))
    return tr(
        f"你的文字：{count(len(text))} 个字符，UTF-8 里是 {count(size)} 个字节。",
        f"Your text. Characters: {count(len(text))}; bytes in UTF-8: {count(size)}.",
    )


def tokenized(num_tokens: int) -> str:
    return tr(
        f"分词：切成 {count(num_tokens)} 个 token，每个有一个 id；前面加一个文首标记 ⟨bos⟩。",
        f"Tokenized. Tokens: {count(num_tokens)}, each with its id; ⟨bos⟩ marks the beginning.",
    )


def scheduled(turn: Turn) -> str:
    blocks = len(turn.step.block_tables[turn.step.work[0].request_id])
    return tr(
        f"队列里没有别人：调度器把 {count(turn.num_new)} 个 token 全排进这一步，"
        f"分给它 {count(blocks)} 个 KV 块。",
        f"Nobody else waits: {_all_tokens(turn.num_new)} into this step; "
        f"KV blocks handed out: {count(blocks)}.",
    )


def _all_tokens(number: int) -> str:
    return "the only token goes" if number == 1 else f"all {count(number)} tokens go"


def _all_positions(number: int) -> str:
    return "the only position" if number == 1 else f"all {count(number)} positions at once"


def prefilled(layer: int, num_layers: int, num_tokens: int) -> str:
    where = tr(
        f"预填充，第 {layer} 层：{count(num_tokens)} 个位置一起算，K 和 V 都写进缓存。",
        f"Prefill, layer {layer}: {_all_positions(num_tokens)}; K and V are kept.",
    )
    if layer < num_layers:
        return where
    return where + tr(
        "最后一个位置给出 logits。",
        " The last position gives the logits.",
    )


def decoded(turn: Turn) -> str:
    cached = turn.step.work[0].context - 1
    return tr(
        f"解码：只算 1 行，就是刚写出的那个 token；它读前面 {count(cached)} 个 token 的 KV，"
        "自己的添在后面。",
        "Decode: one row only, for the token just written. It reads the KV of "
        f"{'the one token' if cached == 1 else f'{count(cached)} tokens'} before it and adds "
        "its own.",
    )


def sampled(number: int, piece: str, probability: float) -> str:
    share = percent(probability)
    if number == 1:
        return tr(
            f"采样：选出“{piece}”（{share}）。第 1 个 token 有了，解码一步都还没跑。",
            f"Sampled: “{piece}” ({share}). Token 1 is there, and no decode step has run.",
        )
    return tr(
        f"采样：选出“{piece}”（{share}），这是第 {number} 个 token。",
        f"Sampled: “{piece}” ({share}), which is token {number}.",
    )


def shown(turn: Turn, is_last: bool) -> str:
    if turn.waiting:
        said = tr(
            f"还原：字节 {turn.waiting.hex(' ').upper()} 还不成字，等下一个 token。",
            f"Detokenize: the bytes {turn.waiting.hex(' ').upper()} are no character yet "
            "and wait for the next token.",
        )
    elif not turn.text:
        said = tr("还原：这个 token 没有文字。", "Detokenize: this token stands for no text.")
    else:
        text = turn.text.replace("\n", "⏎")
        said = tr(f"还原：“{text}”到了屏幕上。", f"Detokenize: “{text}” is on the screen.")
    return said + (tr("写完了。", " Done.") if is_last else "")


# -- many requests ----------------------------------------------------------------------------


def waiting(num_requests: int) -> str:
    return tr(
        f"{count(num_requests)} 个请求都到了，都在队列里。",
        f"Requests that have come, all in the queue: {count(num_requests)}.",
    )


def shared(step: Step) -> str:
    """Who shares a pass of the model, and what comes of it."""
    prefills = [work for work in step.work if work.is_prefill]
    decodes = [work for work in step.work if not work.is_prefill]
    parts = []
    if prefills:
        rows = tr("、", ", ").join(map(_rows, prefills))
        parts.append(tr(f"预填充 {rows}", f"prefill of {rows}"))
    if decodes:
        who = notes.names(work.request_id for work in decodes)
        rows = tr("1 行", "one row") if len(decodes) == 1 else tr("各 1 行", "one row each")
        parts.append(tr(f"解码 {who}，{rows}", f"decode of {who}, {rows}"))
    tokens = count(sum(work.sampled for work in step.work))
    what = tr("；", "; ").join(parts)
    said = tr(
        f"同一遍里：{what}。写出 {tokens} 个 token。",
        f"In the same pass: {what}. Tokens written: {tokens}.",
    )
    if step.finished:
        done = notes.names(step.finished)
        said += tr(f"{done} 写完，让出位置。", f" {done} done, making room.")
    return said


def _rows(work: StepWork) -> str:
    return tr(
        f"{notes.names([work.request_id])} {count(work.num_tokens)} 行",
        f"{notes.names([work.request_id])} ({_rows_of(work.num_tokens)})",
    )


def _rows_of(number: int) -> str:
    return "1 row" if number == 1 else f"{count(number)} rows"
