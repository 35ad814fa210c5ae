"""What is wrong, in words: what was given, where, and what was expected instead."""

from collections.abc import Iterable

from sim.errors import SimError
from sim.workload import traces
from ui.words.language import tr
from ui.words.notes import as_typed, trace_format


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
        "hashes": tr("整数的列表", "a list of whole numbers"),
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
            "文件不是 UTF-8 或 UTF-16 文本，应为逗号分隔的 CSV、JSONL 或 JSON。",
            "The file is neither UTF-8 nor UTF-16 text; comma-separated CSV, JSONL or JSON was "
            "expected.",
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
        "trace_too_long": tr(
            f"文件超过 {values.get('most', 0):,} 行；请只留下开头的一段（`head -n`）。",
            f"The file has more than {values.get('most', 0):,} rows; keep the beginning of it "
            "(`head -n`).",
        ),
        "trace_too_many_hashes": tr(
            f"文件里的 `hash_ids` 超过 {values.get('most', 0):,} 个；"
            "请只留下开头的一段（`head -n`）。",
            f"The file has more than {values.get('most', 0):,} `hash_ids`; keep the beginning of "
            "it (`head -n`).",
        ),
        "trace_hashes_do_not_fit": tr(
            "`hash_ids` 的个数和提示词长度对不上：每块 512、16 或别的 2 的幂个 token 都不成。",
            "The numbers of `hash_ids` do not fit the lengths of the prompts: neither with 512 nor "
            "16 nor any other power of two tokens in a block.",
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
        "run_too_long": tr(
            f"算这些要超过 {values.get('most')} s，已经停下。"
            "请求少一些、回答短一些，或关掉投机解码。",
            f"This takes more than {values.get('most')} s of computing and was stopped. Ask for "
            "fewer requests or shorter answers, or switch speculation off.",
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
