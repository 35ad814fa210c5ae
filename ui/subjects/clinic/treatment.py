"""What the reader of a sick server may turn: changes out of a list, or any of its knobs.

Both give `Change`s of `sim.studies.clinic`.  In a list stand the cures of a case and what only
seems to be one; the knobs are all there are, and one that stands where the server has it is not
turned.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sim.studies import replicas
from sim.studies.clinic import Case, Change, Deployment
from sim.studies.clinic.deployment import ALL_SIZES, EAGER
from ui.controls.chooser import Chooser
from ui.words.language import tr
from ui.words.numbers import count

NOTHING = "none"  # of a list: no change
AS_IT_IS = "as_it_is"  # of a knob: where the server has it
KEY_LETTERS = 24  # of a control in an address
BESIDE_FIGURE = ("max_num_seqs", "max_num_batched_tokens", "gpu_memory_utilization")
FLAGS = {  # where the field of `Deployment` is not the flag's name
    "api_servers": "api-server-count",
    "chunked_prefill": "enable-chunked-prefill",
    "largest_graph": "max-cudagraph-capture-size",
    "prefix_caching": "enable-prefix-caching",
    "tensor_parallel": "tensor-parallel-size",
}


# -- out of a list ----------------------------------------------------------------------------


def choose_change(chapter: Chooser, key: str, label: str, case: Case, server: Deployment) -> str:
    """A list of what a case offers, beginning with nothing; gives a code for `chosen`."""
    words = {code: change_words(change, server) for code, change in _offers(case).items()}
    options = {NOTHING: tr("什么都不改", "change nothing"), **words}
    return chapter.choose(key, label, options, start=NOTHING)


def chosen(case: Case, *codes: str) -> tuple[Change, ...]:
    """What these codes turn; the same twice counts once."""
    known = _offers(case)
    return tuple(known[code] for code in dict.fromkeys(codes) if code in known)


def is_tempted(case: Case, changes: Sequence[Change]) -> bool:
    """Whether one of these changes is of those that only seem to be a cure."""
    return any(change in case.lures for change in changes)


def _offers(case: Case) -> dict[str, Change]:
    """Code in the URL -> what is turned."""
    return {f"{one.flag}-{one.value}".lower(): one for one in case.offers}


# -- knob by knob -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Knob:
    """A field of `Deployment` and where it may stand; `chapter` explains it.

    A server for which it stands at `absent` has no such knob.
    """

    flag: str
    values: tuple[Any, ...]
    chapter: str
    absent: Any = ()

    @property
    def key(self) -> str:
        return self.flag[:KEY_LETTERS]


KNOBS = (
    Knob("max_num_seqs", (16, 32, 64, 128, 256, 512), "05_batching"),
    Knob("max_num_batched_tokens", (512, 1_024, 2_048, 4_096, 8_192, 16_384), "09_chunked_prefill"),
    Knob("chunked_prefill", (True, False), "09_chunked_prefill"),
    Knob("long_prefill_token_threshold", (0, 256, 512, 1_024, 2_048), "09_chunked_prefill"),
    Knob("gpu_memory_utilization", (0.8, 0.85, 0.9, 0.95), "06_kv_cache"),
    Knob("kv_cache_dtype", ("bf16", "fp8"), "12_quantization"),
    Knob("prefix_caching", (True, False), "08_prefix_cache"),
    Knob("variable_first", (True, False), "08_prefix_cache", absent=False),
    Knob("num_speculative_tokens", (0, 2, 4, 6, 8), "10_spec_decode", absent=0),
    Knob("largest_graph", (EAGER, 32, 512, ALL_SIZES), "11_cuda_graph"),
    Knob("api_servers", (1, 2, 4, 8), "11_cuda_graph"),
    Knob("max_tokens", (None, 256, 512, 1_024), "03_latency"),
    Knob("longest_prompt", (None, 4_000, 16_000), "03_latency"),
    Knob("gpu", ("RTX 4090", "A100 80G SXM", "H100 SXM", "H200 SXM"), "02_prefill_decode"),
    Knob("tensor_parallel", (1, 2, 4), "13_systems"),
    Knob("num_replicas", (1, 2, 4, 6, 8), "13_systems"),
    Knob("routing", replicas.RULES, "13_systems"),
)
KEYS = tuple(knob.key for knob in KNOBS)


def turn_knobs(chapter: Chooser, server: Deployment) -> tuple[Change, ...]:
    """All knobs that this server has; gives those that stand elsewhere than the server has them."""
    chapter.front(*BESIDE_FIGURE)
    there = [knob for knob in KNOBS if getattr(server, knob.flag) != knob.absent]
    stands = {knob: _stand(chapter, knob, server) for knob in there}
    return tuple(
        Change(knob.flag, value)
        for knob, value in stands.items()
        if value != getattr(server, knob.flag)
    )


def _stand(chapter: Chooser, knob: Knob, server: Deployment) -> Any:
    """Where the reader has put a knob."""
    here = getattr(server, knob.flag)
    places = {AS_IT_IS if value == here else _code(value): value for value in knob.values}
    words = {code: _place(knob.flag, value) for code, value in places.items()}
    words[AS_IT_IS] += tr("（原样）", " (as it is)")
    name = knob_name(knob.flag)
    return places[chapter.choose(knob.key, name, words, start=AS_IT_IS, group=knob.chapter)]


def _code(value: Any) -> str:
    """A place in the URL."""
    return str(value).lower()


# -- words ------------------------------------------------------------------------------------


def knob_name(flag: str) -> str:
    """As a real server calls it, where it is a flag of a server."""
    match flag:
        case "gpu":
            return "GPU"
        case "num_speculative_tokens":
            return flag
        case "num_replicas":
            return tr("副本数", "Replicas")
        case "routing":
            return tr("路由", "Routing")
        case "max_tokens":
            return tr("回答至多几个 token", "Tokens of an answer, at most")
        case "longest_prompt":
            return tr("收多长的提示词", "Longest prompt that is taken")
        case "variable_first":
            return tr("提示词里的时间戳", "Time of day in the prompt")
        case _:
            return "--" + FLAGS.get(flag, flag).replace("_", "-")


def _place(flag: str, value: Any) -> str:
    """Where a knob stands, in words."""
    match flag, value:
        case "routing", str():
            return {
                "round_robin": tr("轮询", "round robin"),
                "random": tr("随机", "at random"),
                "affinity": tr("按前缀", "by prefix"),
                "balanced": tr("前缀加负载", "by prefix and load"),
            }[value]
        case "variable_first", bool():
            return tr("最前", "first") if value else tr("最后", "last")
        case "largest_graph", 0:
            return tr("不录", "none")
        case "largest_graph", int() if value >= ALL_SIZES:
            return tr("全录", "all")
        case _, bool():
            return tr("开", "on") if value else tr("关", "off")
        case _, None:
            return tr("不限", "no limit")
        case _, int():
            return count(value)
        case _:
            return str(value)


def change_words(change: Change, server: Deployment) -> str:
    """What is turned, as it is written for the real server where there is a flag."""
    value, before = change.value, getattr(server, change.flag)
    match change.flag:
        case "chunked_prefill":
            return "--enable-chunked-prefill" if value else "--no-enable-chunked-prefill"
        case "largest_graph" if before == EAGER:
            return tr("去掉 --enforce-eager", "drop --enforce-eager")
        case "num_speculative_tokens" if value == 0:
            return tr("关掉 --speculative-config", "drop --speculative-config")
        case "gpu":
            return tr(f"换成 {value}", f"buy {value}")
        case "max_tokens":
            return tr(f"回答最多 {value} 个 token", f"answers of at most {value} tokens")
        case "longest_prompt":
            return tr(
                f"拒收 {value:,} token 以上的提示词", f"refuse prompts above {value:,} tokens"
            )
        case "variable_first":
            return tr("把时间戳移到提示词末尾", "move the time of day to the prompt's end")
        case flag:
            return f"{knob_name(flag)} {_place(flag, before)} → {_place(flag, value)}"


def in_words(changes: Sequence[Change], server: Deployment) -> str:
    """What is turned, as Markdown."""
    return tr("；", "; ").join(f"`{change_words(change, server)}`" for change in changes)
