"""One request on its way, in words: a sentence for each station, and for each token sent."""

from collections.abc import Sequence

from sim.views.stations import Journey, Station
from ui.words.language import tr
from ui.words.notes import names
from ui.words.numbers import seconds


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
