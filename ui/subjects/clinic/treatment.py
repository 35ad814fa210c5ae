"""What the reader of a sick server may turn: changes out of a list, or any of its knobs.

Both give `Change`s of `sim.studies.clinic`.  In a list stand the cures of a case and what only
seems to be one; the knobs are all there are, and one that stands where the server has it is not
turned.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sim.studies import replicas
from sim.studies.clinic import Case, Change, Deployment
from sim.studies.clinic.deployment import ALL_SIZES, EAGER, LEAST_LOADED
from ui.controls.chooser import Chooser
from ui.words.language import tr
from ui.words.numbers import count, seconds

NOTHING = "none"  # of a list: no change
AS_IT_IS = "as_it_is"  # of a knob: where the server has it
WHOLE_PROMPTS = 32_768  # a budget that cuts no prompt into pieces
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


def is_aimed(case: Case, changes: Sequence[Change]) -> bool:
    """Whether one of these changes is a cure of the case."""
    return any(change in case.cures for change in changes)


def is_trade(case: Case, changes: Sequence[Change]) -> bool:
    """Whether one of these changes helps with something and costs something else."""
    return any(change in case.trades for change in changes)


def _offers(case: Case) -> dict[str, Change]:
    """Code in the URL -> what is turned."""
    return {f"{one.flag}-{one.value}".lower(): one for one in case.offers}


# -- knob by knob -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Knob:
    """A field of `Deployment` and where it may stand; `chapter` explains it.

    A server for which it stands at `absent`, or which lacks the field that it `needs`, has no such
    knob.
    """

    flag: str
    values: tuple[Any, ...]
    chapter: str
    absent: Any = ()
    needs: str = "requests"

    def is_on(self, server: Deployment) -> bool:
        is_there = bool(getattr(server, self.needs))
        return is_there and getattr(server, self.flag) != self.absent

    @property
    def key(self) -> str:
        return self.flag[:KEY_LETTERS]


KNOBS = (
    Knob("max_num_seqs", (8, 16, 32, 40, 64, 128, 256, 512), "05_batching"),
    Knob(
        "max_num_batched_tokens",
        (512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768),
        "09_chunked_prefill",
    ),
    Knob("static", (True, False), "05_batching", absent=False),
    Knob("chunked_prefill", (True, False), "09_chunked_prefill"),
    Knob("long_prefill_token_threshold", (0, 256, 512, 1_024, 2_048), "09_chunked_prefill"),
    Knob("gpu_memory_utilization", (0.8, 0.85, 0.9, 0.95), "06_kv_cache"),
    Knob("quantization", ("bf16", "fp8"), "12_quantization"),
    Knob("kv_cache_dtype", ("bf16", "fp8"), "12_quantization"),
    Knob("prefix_caching", (True, False), "08_prefix_cache"),
    Knob("variable_first", (True, False), "08_prefix_cache", absent=False),
    Knob("notes_before_history", (True, False), "08_prefix_cache", absent=False),
    Knob("offload_gigabytes", (0.0, 1.5, 20.0), "08_prefix_cache", absent=0.0),
    Knob("max_loras", (1, 2, 4, 8, 24), "05_batching", absent=0),
    Knob("schemas_vary", (True, False), "13_systems", absent=False),
    Knob("grammar_threads", (1, 2, 4, 8), "13_systems", needs="schemas"),
    Knob("num_speculative_tokens", (0, 2, 4, 6, 8), "10_spec_decode", absent=0),
    Knob("largest_graph", (EAGER, 32, 512, ALL_SIZES), "11_cuda_graph"),
    Knob("api_servers", (1, 2, 4, 8), "11_cuda_graph"),
    Knob("patience_seconds", (5, 10, 20, 60), "03_latency", absent=math.inf),
    Knob("retries", (0, 1, 2), "03_latency", absent=0),
    Knob("max_tokens", (None, 256, 512, 1_024), "03_latency"),
    Knob("longest_prompt", (None, 4_000, 16_000), "03_latency"),
    Knob("gpu", ("RTX 4090", "A100 80G SXM", "H100 SXM", "H200 SXM"), "02_prefill_decode"),
    Knob("slowest_gpu", (1.0, 3.0), "13_systems", absent=1.0),
    Knob("tensor_parallel", (1, 2, 4, 8), "13_systems"),
    Knob("num_replicas", (1, 2, 3, 4, 6, 8), "13_systems"),
    Knob("routing", (*replicas.RULES, LEAST_LOADED), "13_systems"),
    Knob("load_age_seconds", (0.0, 1.0, 5.0), "13_systems", absent=0.0),
    Knob("max_replicas", (3, 8), "13_systems", absent=0),
    Knob("scale_at", (1, 10), "13_systems", needs="max_replicas"),
    Knob("start_seconds", (10.0, 60.0), "13_systems", absent=0.0),
)
KEYS = tuple(knob.key for knob in KNOBS)


def turn_knobs(chapter: Chooser, server: Deployment) -> tuple[Change, ...]:
    """All knobs that this server has; gives those that stand elsewhere than the server has them."""
    chapter.front(*BESIDE_FIGURE)
    there = [knob for knob in KNOBS if knob.is_on(server)]
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
    own = {
        "gpu": "GPU",
        "num_speculative_tokens": "num_speculative_tokens",
        "num_replicas": tr("副本数", "Replicas"),
        "routing": tr("路由", "Routing"),
        "max_tokens": tr("回答至多几个 token", "Tokens of an answer, at most"),
        "longest_prompt": tr("收多长的提示词", "Longest prompt that is taken"),
        "variable_first": tr("提示词里的时间戳", "Time of day in the prompt"),
        "notes_before_history": tr("agent 每轮新写的便笺", "The agent's notes of each turn"),
        "static": tr("成批的方式", "Batching"),
        "offload_gigabytes": tr("KV 写到显存外", "Copying KV off the GPU"),
        "schemas_vary": tr("JSON schema", "JSON schemas"),
        "grammar_threads": tr("编译语法的线程", "Threads that compile grammars"),
        "patience_seconds": tr("客户端等多久", "How long clients wait"),
        "retries": tr("客户端重试几次", "Retries of clients"),
        "slowest_gpu": tr("2 号 GPU", "GPU 2"),
        "load_age_seconds": tr("路由器多久看一次负载", "How often the router looks at loads"),
        "scale_at": tr("几个请求排队就加副本", "Add replicas when so many wait"),
        "start_seconds": tr("新副本多久就绪", "Until a new replica is ready"),
    }
    return own.get(flag) or "--" + FLAGS.get(flag, flag).replace("_", "-")


def _place(flag: str, value: Any) -> str:
    """Where a knob stands, in words."""
    match flag, value:
        case "routing", str():
            return {
                "round_robin": tr("轮询", "round robin"),
                "random": tr("随机", "at random"),
                "affinity": tr("按前缀", "by prefix"),
                "balanced": tr("前缀加负载", "by prefix and load"),
                LEAST_LOADED: tr("最闲的", "least loaded"),
            }[value]
        case "variable_first", bool():
            return tr("最前", "first") if value else tr("最后", "last")
        case "notes_before_history", bool():
            return tr("在历史之前", "before the history") if value else tr("在最后", "at the end")
        case "static", bool():
            return tr("静态", "static") if value else tr("连续", "continuous")
        case "schemas_vary", bool():
            return tr("每个请求一份新的", "a new one each time") if value else tr("固定", "fixed")
        case "slowest_gpu", float():
            return (
                tr("正常", "sound") if value == 1 else tr(f"慢 {value:g} 倍", f"{value:g}× slower")
            )
        case "offload_gigabytes", float():
            return f"{value:g} GB/s" if value else tr("关", "off")
        case "load_age_seconds", 0.0:
            return tr("每个请求都看", "at each request")
        case "patience_seconds" | "start_seconds" | "load_age_seconds", int() | float():
            return seconds(value)
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
        case "max_num_batched_tokens" if before >= WHOLE_PROMPTS:
            return tr(
                f"分块预填充：--max-num-batched-tokens {before} → {value}",
                f"chunked prefill: --max-num-batched-tokens {before} → {value}",
            )
        case "largest_graph" if before == EAGER:
            return tr("去掉 --enforce-eager", "drop --enforce-eager")
        case "num_speculative_tokens" if value == 0:
            return tr("关掉 --speculative-config", "drop --speculative-config")
        case "static":
            return tr("连续批处理", "continuous batching") if not value else tr("静态批", "static")
        case "quantization":
            return f"--quantization {value}"
        case "gpu":
            return tr(f"换成 {value}", f"buy {value}")
        case "slowest_gpu":
            return tr("换掉 2 号 GPU", "replace GPU 2")
        case "offload_gigabytes" if value == 0:
            return tr("不再把 KV 写到显存外", "stop copying KV off the GPU")
        case "schemas_vary":
            return tr("变的值放进提示词，schema 固定", "fixed schemas, values go into the prompt")
        case "num_replicas" if server.max_replicas:
            return tr(f"一开始就开 {value} 个副本", f"keep {value} replicas from the start")
        case "max_tokens":
            return tr(f"回答最多 {value} 个 token", f"answers of at most {value} tokens")
        case "longest_prompt":
            return tr(
                f"拒收 {value:,} token 以上的提示词", f"refuse prompts above {value:,} tokens"
            )
        case "variable_first":
            return tr("把时间戳移到提示词末尾", "move the time of day to the prompt's end")
        case "notes_before_history":
            return tr("便笺接在历史后面", "append the notes to the history")
        case flag:
            return f"{knob_name(flag)} {_place(flag, before)} → {_place(flag, value)}"


def in_words(changes: Sequence[Change], server: Deployment) -> str:
    """What is turned, as Markdown."""
    return tr("；", "; ").join(f"`{change_words(change, server)}`" for change in changes)
