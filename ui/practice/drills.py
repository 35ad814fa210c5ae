"""The sums of `sim.studies.drills` as questions: their words, and what each mistake is.

Endless: the seed stands in the item's name, so the same name is the same sum for everybody.

Long because each sum has its words, and each of its mistakes, in two languages.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sim.studies.drills import KINDS, Drill
from ui.practice.bank import Item, KnownNumber, Link, Words
from ui.words.numbers import in_words, significant

CHAPTER = "sums"


@dataclass(frozen=True)
class _Text:
    """Words of one kind of sum; {blanks} are what is given, {right} is what comes out."""

    question: Words
    right: Words
    wrong: Mapping[str, Words]
    otherwise: Words
    unit: str
    source: str
    link: Link


def one_of_each(seed: int) -> list[Item]:
    """A round: every kind once."""
    return [item(name, seed) for name in KINDS]


def item(name: str, seed: int) -> Item:
    """One sum as a question of the quiz."""
    drill, text = KINDS[name](seed), TEXTS[name]
    lures = {key: value for key, value in drill.wrong.items() if not _is_right(drill, value)}

    def filled(words: Words) -> Words:
        return Words(
            words.zh.format(**_blanks(drill, "、")), words.en.format(**_blanks(drill, ", "))
        )

    return Item(
        id=f"{name}-{seed}",
        kind="numeric",
        question=filled(text.question),
        options=(),
        answer=KnownNumber(drill.right, drill.tolerance, filled(text.right)),
        lures=tuple(
            KnownNumber(value, max(drill.tolerance, 0.01 * abs(value)), filled(text.wrong[key]))
            for key, value in lures.items()
        ),
        otherwise=filled(text.otherwise),
        unit=text.unit,
        sources=(text.source,),
        engine_version="",
        link=text.link,
        chapter=CHAPTER,
    )


def _blanks(drill: Drill, comma: str) -> dict[str, str]:
    """What is given and what comes out, for a language that lists with this comma."""
    given = {
        key: comma.join(map(str, value)) if isinstance(value, tuple) else in_words(value)
        for key, value in drill.given.items()
    }
    return given | {"right": significant(drill.right)}


def _is_right(drill: Drill, value: float) -> bool:
    return abs(value - drill.right) <= drill.tolerance


_KV = _Text(
    question=Words(
        "{model}：{layers} 层，{kv_heads} 个 KV 头，每个头 {head_dim} 个数，16 位。"
        "{number} 个请求，各有 {tokens} 个 token。KV 一共占多少 GiB？",
        "{model}: {layers} layers, {kv_heads} KV heads of {head_dim} numbers, 16 bit. {number} "
        "requests with {tokens} tokens each. How many GiB does their KV take?",
    ),
    right=Words(
        "对。2（K 和 V）× {layers} × {kv_heads} × {head_dim} × 2 字节是一个 token 的量，"
        "再乘 {number} × {tokens} 个 token：{right} GiB。",
        "Yes. 2 (K and V) × {layers} × {kv_heads} × {head_dim} × 2 bytes make a token; times "
        "{number} × {tokens} tokens: {right} GiB.",
    ),
    wrong={
        "only_k": Words(
            "正好是一半：K 和 V 都要存，公式最前面的 2 漏掉了。",
            "Exactly half: K and V are both kept. The 2 at the front of the formula is missing.",
        ),
        "one_request": Words(
            "这只是一个请求的量，还要乘以 {number} 个请求。",
            "That is one request; there are {number} of them.",
        ),
        "query_heads": Words(
            "这是按查询头数算的。缓存里只存 KV 头，查询头几个共用一个。",
            "That counts the query heads. Only KV heads are cached; several queries share one.",
        ),
    },
    otherwise=Words(
        "一个 token 的字节数 = 2 × 层数 × KV 头数 × 每头的数 × 2，再乘以所有 token。",
        "Bytes of a token = 2 × layers × KV heads × numbers per head × 2; then times all tokens.",
    ),
    unit="GiB",
    source="https://arxiv.org/abs/2309.06180",
    link=Link("06_kv_cache", {"part": "formulas"}),
)

_STATIC = _Text(
    question=Words(
        "静态批处理，{number} 个请求一起开始，分别输出 {lengths} 个 token。"
        "槽位时间里有百分之几真的在出 token？",
        "Static batching: {number} requests start together and write {lengths} tokens. What per "
        "cent of the slot time yields tokens?",
    ),
    right=Words(
        "对。所有输出加起来，除以 {number} × {longest}：整批要等最长的那个，所以是 {right}%。",
        "Yes. All outputs together, over {number} × {longest}: the batch waits for its longest, "
        "so {right}%.",
    ),
    wrong={
        "idle": Words(
            "这是空转的那部分，问的是在用的部分：两者相加是 100%。",
            "That is the idle part. The question is about the used one; they add up to 100%.",
        )
    },
    otherwise=Words(
        "分子是全部输出 token，分母是 {number} 个槽位 × 最长的 {longest} 步。",
        "Output tokens of all, over {number} slots × {longest} steps, the longest request.",
    ),
    unit="%",
    source="https://www.usenix.org/conference/osdi22/presentation/yu",
    link=Link("05_batching", {"part": "compare"}),
)

_CHUNKS = _Text(
    question=Words(
        "每步的 token 预算是 {budget}，{decoding} 个请求正在解码。来了一个 {prompt} 个 token "
        "的提示词，别无其他请求。它的预填充要几步？",
        "The token budget is {budget} a step, and {decoding} requests are decoding. A prompt of "
        "{prompt} tokens comes, nothing else. How many steps does its prefill take?",
    ),
    right=Words(
        "对。解码先拿走 {decoding} 个，每步剩 {left} 个给预填充，向上取整是 {right} 步。",
        "Yes. Decodes take {decoding} first, which leaves {left} a step; rounded up, {right} "
        "steps.",
    ),
    wrong={
        "whole_budget": Words(
            "这是把整个预算都给了预填充。解码中的 {decoding} 个请求每步各占一个 token，"
            "而且排在前面。",
            "That gives the whole budget to prefill. The {decoding} decodes take a token each, "
            "and they come first.",
        ),
        "one_step": Words(
            "一步装不下：预算限制的是一步里所有 token 的总数。",
            "It does not fit into one step: the budget caps all tokens of a step.",
        ),
    },
    otherwise=Words(
        "预算减去正在解码的请求数，就是每步能预填充的量；再看提示词要分几份。",
        "Budget minus decoding requests is what a step can prefill; then see into how many "
        "pieces the prompt goes.",
    ),
    unit="",
    source="https://arxiv.org/abs/2403.02310",
    link=Link("09_chunked_prefill", {}),
)

_TPOT = _Text(
    question=Words(
        "一个请求输出 {tokens} 个 token，TTFT 是 {ttft} ms，端到端 {whole} ms。"
        "按 vLLM 的定义，TPOT 是多少？",
        "A request writes {tokens} tokens; TTFT {ttft} ms, end to end {whole} ms. What is its "
        "TPOT as vLLM defines it?",
    ),
    right=Words(
        "对。去掉首 token 之前的时间，除以剩下的间隔数（比 token 数少一个）：{right} ms。",
        "Yes. Take off the time to the first token and divide by the gaps, one fewer than "
        "tokens: {right} ms.",
    ),
    wrong={
        "all_tokens": Words(
            "除数多了一个：首 token 已经算在 TTFT 里，{tokens} 个 token 之间的间隔少一个。",
            "One too many: token 1 belongs to TTFT, and {tokens} tokens have one gap fewer.",
        ),
        "with_ttft": Words(
            "这是端到端除以全部 token，把排队和预填充也摊进去了。",
            "That is end to end over all tokens; it spreads queueing and prefill over them.",
        ),
    },
    otherwise=Words(
        "TPOT =（端到端 − TTFT）÷（输出 token 数 − 1）。",
        "TPOT = (end to end − TTFT) ÷ (output tokens − 1).",
    ),
    unit="ms",
    source="https://docs.vllm.ai/en/latest/design/metrics/",
    link=Link("03_latency", {}),
)

_WEIGHTS = _Text(
    question=Words(
        "{model} 的权重按 {bits} 位存，是 {gigabytes} GB。{gpu} 的显存带宽是 {bandwidth} TB/s。"
        "批很小时，一步解码至少要几毫秒？",
        "The weights of {model} in {bits} bit are {gigabytes} GB. The memory of an {gpu} gives "
        "{bandwidth} TB/s. With a small batch, how many ms does a decode step take at least?",
    ),
    right=Words(
        "对。每一步都要把权重读一遍：{gigabytes} GB ÷ {bandwidth} TB/s = {right} ms。"
        "实际达不到标称带宽，还会再慢些。",
        "Yes. Every step reads all weights: {gigabytes} GB ÷ {bandwidth} TB/s = {right} ms. Real "
        "kernels stay below the data sheet, so it takes longer.",
    ),
    wrong={
        "per_second": Words(
            "这是每秒的步数，问的是一步几毫秒：取倒数，再乘 1000。",
            "Those are steps per second. A step in ms is 1000 over that.",
        ),
        "bits": Words(
            "大了 8 倍：{gigabytes} GB 已经是字节，不用再换算成位。",
            "Eight times too much: {gigabytes} GB are bytes already, not bits.",
        ),
    },
    otherwise=Words(
        "批很小时，一步的时间几乎全用来读权重：字节数除以带宽。",
        "With a small batch a step is nearly all reading of weights: bytes over bandwidth.",
    ),
    unit="ms",
    source="https://arxiv.org/abs/2211.05102",
    link=Link("02_prefill_decode", {}),
)

_BLOCK = _Text(
    question=Words(
        "块大小是 {size}，一个请求现在有 {tokens} 个 token。它的最后一块里空着几个位置？",
        "Blocks of {size}; a request has {tokens} tokens now. How many places of its last block "
        "are empty?",
    ),
    right=Words(
        "对。{tokens} 个 token 要 {blocks} 块，只有最后一块没满，空着 {right} 个；"
        "浪费永远不到一块。",
        "Yes. {tokens} tokens need {blocks} blocks; only the last is not full, by {right}. The "
        "waste is always less than a block.",
    ),
    wrong={
        "filled": Words(
            "这是最后一块里已经写了的，问的是空着的。",
            "Those of the last block that are written. The question is about the empty ones.",
        ),
        "blocks": Words("这是块数，不是空位数。", "That is the number of blocks."),
    },
    otherwise=Words(
        "块数向上取整，乘以块大小，再减去 token 数。",
        "Round the number of blocks up, times the block size, minus the tokens.",
    ),
    unit="",
    source="https://arxiv.org/abs/2309.06180",
    link=Link("07_fragmentation", {}),
)

_ROUND = _Text(
    question=Words(
        "投机解码：每个提议的 token 以 {share} 的概率被接受（彼此独立），每轮提议 {proposed} 个。"
        "平均一轮得到几个 token？",
        "Speculation: every proposal is accepted with probability {share}, independently, and a "
        "round proposes {proposed}. How many tokens does a round yield on average?",
    ),
    right=Words(
        "对。1 + a + … + a 的 {proposed} 次方 = {right}：前面的被拒，后面的就都不算；"
        "而目标模型总会再给一个。",
        "Yes. 1 + a + … + a to the power of {proposed} = {right}: behind a rejection nothing "
        "counts, and the target always adds one of its own.",
    ),
    wrong={
        "without_bonus": Words(
            "少了一个：不管接受几个，目标模型自己总会再给一个 token。",
            "One short: whatever is accepted, the target adds a token of its own.",
        ),
        "linear": Words(
            "{proposed} × {share} 把每个提议分开算。前面的被拒以后，后面的再好也作废。",
            "{proposed} × {share} counts each on its own. Behind a rejection even good ones are "
            "lost.",
        ),
        "one_more": Words(
            "多给的一个算上了，但 {proposed} × {share} 没有考虑：前面的被拒，后面的就都作废。",
            "The extra one is there, but {proposed} × {share} forgets that nothing counts behind "
            "a rejection.",
        ),
    },
    otherwise=Words(
        "第一个被接受的概率是 a，前两个都被接受是 a 的平方，依此类推；最后再加一个。",
        "The first is accepted with a, the first two with a squared, and so on; then add one.",
    ),
    unit="",
    source="https://arxiv.org/abs/2211.17192",
    link=Link("10_spec_decode", {}),
)

TEXTS: Mapping[str, _Text] = {
    "kv_bytes": _KV,
    "static_slots": _STATIC,
    "chunk_steps": _CHUNKS,
    "tpot": _TPOT,
    "weights_read": _WEIGHTS,
    "last_block": _BLOCK,
    "tokens_per_round": _ROUND,
}
