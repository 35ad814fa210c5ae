"""The pipeline: the stations of a server in a row, and below them what one text has become.

Frame k stands at one station; it shows as many tokens as there are by then, how many of them have
K and V in each layer, the probabilities that were drawn from, the bytes that wait for the rest of
their character, and the text on the screen.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ui import theme
from ui.player import Frames, FramesError, changes, pick
from ui.words.language import tr

# In the order of the way; the decode step stands below the prefill, in the loop.
STATIONS = ("answer", "tokenize", "queue", "prefill", "decode", "sample", "detokenize", "answer")
TEXT, TOKENIZE, QUEUE, PREFILL, DECODE, SAMPLE, DETOKENIZE, SCREEN = range(len(STATIONS))


def station_names() -> list[str]:
    return [
        tr("文字", "text"),
        tr("分词", "tokenize"),
        tr("调度", "scheduler"),
        tr("预填充", "prefill"),
        tr("解码", "decode"),
        tr("采样", "sample"),
        tr("还原", "detokenize"),
        tr("屏幕", "screen"),
    ]


def station_tasks() -> list[str]:
    """What each station does; told on pointing at it."""
    return [
        tr("你写的文字，UTF-8 字节", "your text, in bytes of UTF-8"),
        tr("把字节切成 token，每个 token 一个编号", "cuts bytes into tokens, each with an id"),
        tr(
            "管着队列，决定谁进这一步，分给它 KV 块",
            "keeps the queue, decides who goes into a step, hands out KV blocks",
        ),
        tr(
            "一遍算完提示词的所有 token，写下它们的 KV",
            "computes all tokens of the prompt in one pass and writes their KV",
        ),
        tr(
            "每一步只算最新的一个 token，读前面所有的 KV",
            "computes the newest token alone, reading the KV of all before it",
        ),
        tr("从概率分布里抽出下一个 token", "draws the next token from the distribution"),
        tr("把 token 变回字节，凑齐了才成字", "turns tokens back into bytes, and whole characters"),
        tr("用户看到的文字", "the text that the user sees"),
    ]


def borders() -> list[tuple[int, int, str]]:
    """Which process of the server has which stations: first, last, its name."""
    server = tr("API 服务器", "API server")
    return [
        (TOKENIZE, TOKENIZE, server),
        (QUEUE, QUEUE, tr("引擎核心", "engine core")),
        (PREFILL, SAMPLE, tr("worker（GPU）", "worker (GPU)")),
        (DETOKENIZE, DETOKENIZE, server),
    ]


@dataclass(frozen=True)
class PipelineBar:
    """A token that may come next.  `said`: its probability, as it is written."""

    piece: str
    probability: float
    said: str
    chosen: bool = False


@dataclass(frozen=True)
class PipelineMoment:
    """What is there at one step.  `bars`: which of the distributions, -1 for none."""

    station: int
    num_tokens: int
    kv: tuple[int, ...]  # [layers] tokens whose K and V are kept
    bars: int = -1
    waiting: tuple[str, ...] = ()  # bytes
    screen: str = ""


@dataclass(frozen=True, kw_only=True)
class Pipeline(Frames):
    """One text on its way."""

    text: str
    pieces: tuple[str, ...]  # of all tokens, the prompt's and the answer's
    token_ids: tuple[int, ...]
    prompt_tokens: int
    distributions: tuple[tuple[PipelineBar, ...], ...]
    moments: tuple[PipelineMoment, ...]

    painter: ClassVar[str] = "pipeline"

    @property
    def num_steps(self) -> int:
        return len(self.moments)

    def meanings(self) -> tuple[str, ...]:
        return tuple(name for name in theme.MEANINGS if name in STATIONS)

    def check(self) -> None:
        if len(self.pieces) != len(self.token_ids):
            raise FramesError(f"{len(self.pieces)} pieces for {len(self.token_ids)} tokens")
        for moment in self.moments:
            if not 0 <= moment.station < len(STATIONS):
                raise FramesError(f"{moment} is at no station")
            if moment.num_tokens > len(self.pieces) or max(moment.kv) > moment.num_tokens:
                raise FramesError(f"{moment} shows more tokens than there are")
            if moment.bars >= len(self.distributions):
                raise FramesError(f"{moment} shows a distribution that is not there")
            if len(moment.kv) != len(self.moments[0].kv):
                raise FramesError(f"{moment} has another number of layers than the first one")

    def picture(self) -> dict[str, Any]:
        meanings = self.meanings()
        return {
            "kinds": [meanings.index(name) for name in STATIONS],
            "text": self.text,
            "tokens": list(zip(self.pieces, self.token_ids, strict=True)),
            "prompt": self.prompt_tokens,
            "bars": [
                [[bar.piece, round(bar.probability, 4), bar.said, bar.chosen] for bar in bars]
                for bars in self.distributions
            ],
            "stations": [moment.station for moment in self.moments],
            "num": [moment.num_tokens for moment in self.moments],
            "kv": changes(moment.kv for moment in self.moments),
            "shown": [moment.bars for moment in self.moments],
            "waiting": changes(moment.waiting for moment in self.moments),
            "screen": changes(moment.screen for moment in self.moments),
        }

    def texts(self) -> dict[str, Any]:
        return {"stations": station_names(), "tasks": station_tasks(), "borders": borders()}

    def words(self) -> dict[str, str]:
        return {
            "loop": tr("每个 token 一圈", "once per token"),
            "token": "token",
            "kv": tr("KV 缓存", "KV cache"),
            "kept": tr("在 GPU 上", "on the GPU"),
            "layers": tr("{n} 层", "{n} layers"),
            "sampler": tr("采样：下一个 token 的概率", "sample: what may come next"),
            "waits": tr("还不成字的字节：", "no character yet:"),
            "nothing": tr("没有", "none"),
            "screen": tr("屏幕上", "on the screen"),
            "column_station": tr("在哪一站", "Station"),
            "column_tokens": tr("token 与 id", "Tokens and ids"),
            "column_kv": tr("有 KV 的 token", "Tokens with KV"),
            "column_screen": tr("屏幕上", "On the screen"),
            "held": tr("KV 在 {n} 层", "KV in {n} layers"),
        }

    def take(self, steps: np.ndarray) -> Self:
        return replace(super().take(steps), moments=pick(self.moments, steps))
