"""What a reader brought, in words: why it cannot be read, and what to know of how it was.

A text is the reader's own: quoted as it stands, made harmless for Markdown.
"""

from collections.abc import Mapping

from sim.errors import SimError
from ui.subjects.clinic.brought.found import Note
from ui.words.language import tr
from ui.words.notes import as_typed
from ui.words.numbers import count, seconds, significant


def problem(error: SimError) -> str:
    """Why a text cannot be read, where, and what to bring instead."""
    values = error.values
    line, column = values.get("line", ""), values.get("column", "")
    value = as_typed(str(values.get("value", "")))
    instead = f"`{values.get('instead', '')}`"
    given, most = _count(values, "given"), _count(values, "most")
    return {
        "brought_too_large": tr(
            f"太大：{given} 字节，至多 {most} 字节。",
            f"Too large: {given} bytes, at most {most}.",
        ),
        "brought_too_long": tr(
            f"太长：{given} 行，至多 {most} 行。", f"Too long: {given} lines, at most {most}."
        ),
        "brought_compressed": tr(
            "这是压缩文件；请先解压（`gunzip`、`unzip`）。",
            "This file is compressed; unpack it first (`gunzip`, `unzip`).",
        ),
        "brought_not_text": tr(
            "这不是 UTF-8 或 UTF-16 文本。", "This is neither UTF-8 nor UTF-16 text."
        ),
        "brought_not_metrics": tr(
            f'第 {line} 行不是 Prometheus 文本：{value}；应形如 `name{{label="x"}} 1.5`。',
            f"Line {line} is no Prometheus text: {value}; expected, for example, "
            f'`name{{label="x"}} 1.5`.',
        ),
        "brought_no_metrics": tr(
            f"读到 {given} 个指标，没有一个以 `vllm:` 或 `sglang:` 开头。",
            f"Metrics found: {given}, but none begins with `vllm:` or `sglang:`.",
        ),
        "brought_no_values": tr(
            f"这是 {_engine(values)} 的文本，但只有说明，没有数值：这台服务器还没有处理过请求。"
            "发几个请求再取一次。",
            f"This is {_engine(values)}'s text, but descriptions only, without values: the server "
            "has not served a request yet. Send some, then fetch it again.",
        ),
        "brought_other_metrics": tr(
            f"这是 {value} 的指标，这里不读；能读 vLLM 和 SGLang 的，还有旁边的 DCGM exporter。",
            f"These are metrics of {value}, which are not read here. Those of vLLM and SGLang are, "
            "and of a DCGM exporter beside them.",
        ),
        "brought_broken_json": tr(
            f"JSON 在 {line}:{column}（行:列）处断了。",
            f"Broken JSON at {line}:{column} (line:column).",
        ),
        "brought_other_json": tr(
            "JSON 里没有认得的测试结果。能读的：`vllm bench serve --save-result`、SGLang 的 "
            "`bench_serving --output-file`、guidellm、AIPerf、GenAI-Perf、inference-perf 的结果，"
            "且其中有 p99 或各请求的数据。",
            "The JSON holds no benchmark result that is known here. Read are those of `vllm bench "
            "serve --save-result`, SGLang's `bench_serving --output-file`, guidellm, AIPerf, "
            "GenAI-Perf and inference-perf, with a p99 or the single requests in them.",
        ),
        "brought_other_file": tr(
            f"这是 {value}，这里不读。同一次测试还写了 {instead}，请带那一份。",
            f"This is {value}, which is not read here. The same run also writes {instead}: bring "
            "that one.",
        ),
    }[error.code]


def _count(values: Mapping[str, object], key: str) -> str:
    return count(float(str(values.get(key, 0))))


def _engine(values: Mapping[str, object]) -> str:
    return str(values.get("engine", "")).replace("vllm", "vLLM").replace("sglang", "SGLang")


def note(own: Note) -> str:
    """One thing to know of how a text was read."""
    values = own.values
    line, value = values.get("line", ""), as_typed(str(values.get("value", "")))
    tool = str(values.get("tool", ""))
    names = tr(" 和 ", " and ").join(map(str, values.get("names", ())))  # type: ignore[call-overload]
    tokens = significant(float(str(values.get("tokens", 0))), 2)
    mean = seconds(float(str(values.get("mean", 0))))
    return {
        "left_out": tr(
            f"跳过了 {_count(values, 'lines')} 行不是指标的内容，第一处在第 {line} 行：{value}。",
            f"Lines left out that are no metrics: {_count(values, 'lines')}, the first of them "
            f"line {line}: {value}.",
        ),
        "fences": tr("代码块的围栏没有读。", "The fences of code blocks were left out."),
        "cut_line": tr(
            f"最后一行（第 {line} 行）被截断了，没有读；前面的都读了。",
            f"The last line ({line}) is cut and was left out; all others were read.",
        ),
        "cut_value": tr(
            "最后一个 JSON 被截断了，读的是它前面那个。",
            "The last JSON is cut; the one before it was read.",
        ),
        "scrapes": tr(
            f"同样的序列出现了 {_count(values, 'times')} 次，当作同一台服务器先后取的几份文本。",
            f"The same series come {_count(values, 'times')} times: taken as texts of one server, "
            "fetched one after the other.",
        ),
        "repeated": tr(
            "有些行出现了不止一次，每一行读的是最后那次。",
            "Some lines come more than once; of each the last one is read.",
        ),
        "counters_fell": tr(
            "后一份里有计数器变小了：重启过、次序颠倒，或不是同一台。所以没有相减，只读最后一份。",
            "Counters of the later one stand lower: a restart, the wrong order, or two servers. So "
            "nothing was subtracted; only the last one is read.",
        ),
        "engines": tr(
            f"读到 {_count(values, 'engines')} 个引擎：请求数相加，延迟合在一起，KV 给出范围。",
            f"Engines read: {_count(values, 'engines')}. Requests are added up, latencies put "
            "together, KV is given as a range.",
        ),
        "mean_alone": tr(
            f"{values.get('name')} 只有平均值（{mean}），`_bucket` 的行不在文本里："
            "没有它们就没有 p99，而目标说的是 p99。",
            f"Of {values.get('name')} only the mean is there ({mean}): the lines of its `_bucket` "
            "are not in the text, and without them there is no p99, which the target is about.",
        ),
        "speculates": tr(
            f"这台服务器在做投机解码，平均一轮出 {tokens} 个 token；vLLM 每轮只记一次 ITL，"
            "所以它大于每个 token 的时间。",
            f"This server speculates, {tokens} tokens a round on average; vLLM observes ITL once a "
            "round, so it is longer than the time for each token.",
        ),
        "speculates_sglang": tr(
            "这台服务器在做投机解码；SGLang 把一轮的时间均分给它的 token，读者看到的停顿更长。",
            "This server speculates; SGLang shares the time of a round out over its tokens, the "
            "pauses that a reader sees are longer.",
        ),
        "speculates_client": tr(
            "测试时开着投机解码：客户端一次收到几个 token，ITL 是轮与轮之间的间隔。",
            "The run speculated: a client gets several tokens at once, and ITL is the gap between "
            "rounds.",
        ),
        "tool": tr(
            f"数字按 {tool} 的定义，在客户端量的，网络也算在内。",
            f"The numbers follow the definitions of {tool}, measured at the client, network "
            "included.",
        ),
        "mean_gaps": tr(
            f"{tool} 所说的 inter-token latency 是每个请求自己的平均间隔，也就是这门课的 TPOT："
            "单次停顿可以长得多。",
            f"What {tool} calls inter-token latency is the mean gap of each request, TPOT in this "
            "course: a single pause can be much longer.",
        ),
        "last_of": tr(
            f"里面有 {_count(values, 'results')} 个结果，读的是最后一个。",
            f"Results found: {_count(values, 'results')}; the last one is read.",
        ),
        "none_completed": tr(
            f"没有一个请求完成（失败 {_count(values, 'failed')} 个），所以没有任何延迟。",
            f"No request completed (failed: {_count(values, 'failed')}), so there is no latency.",
        ),
        "zeros": tr(
            f"{names} 写的是 0：客户端没有量（多半没有用流式），当作没有。",
            f"{names} of 0: the client did not measure it (most likely it did not stream); taken "
            "as missing.",
        ),
        "one_piece": tr(
            "TTFT 和整个回答一样长：回答是一次性收到的，所以这不是首 token 的时间，当作没有。",
            "TTFT is as long as the whole answer: it came in one piece, so this is not the time of "
            "a first token; taken as missing.",
        ),
    }[own.code]
