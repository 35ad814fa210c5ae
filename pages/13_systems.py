"""Chapter 13.  Systems: which mechanism answers which problem, and where it lives.

The reader switches the mechanisms of a modern server on, one after the other, maps each problem to
its answer, fills the memory of three servers that give way in different ways, masks the sampler of
a real model with a format of their own, spreads a model over several GPUs, and finds out which
project works on which layer.
"""

from sim import specs
from sim.cost import Roofline
from sim.cost.parallel import Parted, Spread
from sim.studies.ablation import RUNGS
from sim.studies.pressure import Comparison
from ui import lesson
from ui.lesson import Card, tr
from ui.practice import predict
from ui.subjects.constrained import grammar
from ui.subjects.systems import ladder, masks, mechanisms, pressure, projects, several_gpus
from ui.words.numbers import count, microseconds, percent, plain, seconds, significant

SCHEMA = (
    '{"type":"object","properties":{"engine":{"enum":["vLLM","SGLang"]},'
    '"paged":{"type":"boolean"}},"required":["engine","paged"]}'
)
MASKED: dict[str, object] = {"text": SCHEMA, "mask": True, "jump": False}
FORMATS: dict[str, dict[str, object]] = {
    "format_off": MASKED | {"mask": False},
    "format_jump": MASKED | {"jump": True},
    "format_date": MASKED | {"text": "20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"},
    "format_cut": MASKED
    | {"text": '{"type":"object","properties":{"batch":{"type":"integer"}},"required":["batch"]}'},
    "format_evil": MASKED | {"text": r"((a+)+)+b"},
}
MOST_LETTERS = 4_000  # of a format
OUTCOMES = {
    "complete": "format_complete",
    "broken": "format_broken",
    "cut_off": "format_cut_off",
}
TEMPERATURES = {"0": "0", "0.7": "0.7", "1": "1"}
BUSY = 8  # requests/s: more than the upper rungs can serve
LARGE_MODEL, MANY_GPUS = specs.MODELS["Llama-3.1-70B"], 4

POOLS = (2_048, 3_072, 4_096, 6_144, 8_192, 12_288, 16_384)  # tokens
CONSERVATIVENESS = (0.1, 0.3, 0.5, 1.0, 1.3)
USUAL: dict[str, object] = {
    "pool": 3_072,
    "max_tokens": "512",
    "guess": 1.0,
    "capacity": "no_evict",
}
CAPACITY = {"no_evict": "GUARANTEED_NO_EVICT", "utilization": "MAX_UTILIZATION"}

GPUS = {name: name for name in ("H100 SXM", "A100 80G SXM", "L40S", "RTX 4090")}
MODELS = {name: name for name in ("Llama-3.1-8B", "Llama-3.1-70B")}
PROMPTS = (256, 512, 1_024, 2_048, 4_096, 8_192)
ANSWER_TOKENS, DECODING = 256, 32
SPREAD: dict[str, object] = {
    "model": "Llama-3.1-8B",
    "gpu": "H100 SXM",
    "gpus": "2",
    "prompt": 1_024,
}
MASK_MICROSECONDS = (10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)

PROJECTS = {
    "vllm": "vLLM",
    "sglang": "SGLang",
    "tensorrt": "NVIDIA TensorRT-LLM",
    "flashinfer": "FlashInfer",
}
TOLD = {
    "vllm": "layer_vllm",
    "sglang": "layer_sglang",
    "tensorrt": "layer_tensorrt",
    "flashinfer": "layer_flashinfer",
}

chapter = lesson.open(__file__)
TOKENS = tr("token", "tokens")


@chapter.act("hook", tr("一级一级", "One by one"))
def hook() -> None:
    chapter.say("hook", requests=ladder.NUM_REQUESTS)
    label = tr("打开几个机制", "Mechanisms switched on")
    num_on = int(chapter.slide("on", label, 0, len(RUNGS) - 1, start=0, live=True))
    label = tr("每秒请求数", "Arrivals per s")
    rate = chapter.pick("rate", label, ladder.RATES, start=BUSY, live=True)
    rungs = ladder.ladder(rate)
    now, naive = rungs[RUNGS[num_on]], rungs[RUNGS[0]]
    gains = ladder.gains(ladder.ladder(BUSY))
    guess = chapter.predict(
        "gain",
        chapter.words("hook_question"),
        predict.Choice(ladder.mechanisms(), truth=ladder.largest(gains)),
        outcome=chapter.words("hook_outcome", **ladder.as_factors(gains)),
    )
    chapter.cards(
        [
            Card(
                tr("输出 token/s", "Output tokens/s"),
                significant(now.tokens_per_second),
                ladder.against(now, naive),
            ),
            Card("TTFT p99", seconds(now.summary.ttft.p99)),
            Card(tr("浪费的 KV", "KV wasted"), percent(now.waste)),
        ]
    )
    chapter.draw(
        ladder.ladder_figure(rungs, num_on, guess.value, large=chapter.large),
        "ladder",
        alt=tr(
            "每打开一个机制一行：输出 token/s、TTFT p99、占着的 KV 里浪费的比例",
            "A row for each mechanism switched on: output tokens/s, TTFT p99, waste in held KV",
        ),
    )
    chapter.leaves_out(
        "hook_leaves_out", requests=ladder.NUM_REQUESTS, longest=count(ladder.LONGEST)
    )
    best = rungs[RUNGS[-1]]
    chapter.say(
        "hook_result",
        after=guess,
        rate=plain(rate),
        naive=significant(naive.tokens_per_second),
        best=significant(best.tokens_per_second),
        factor=significant(ladder.factor(best, naive)),
        naive_ttft=seconds(naive.summary.ttft.p99),
        best_ttft=seconds(best.summary.ttft.p99),
    )
    chapter.presets(
        {
            "hook_quiet": {"on": 4, "rate": 1},
            "hook_batching": {"on": 1, "rate": BUSY},
            "hook_all": {"on": 4, "rate": BUSY},
        }
    )


@chapter.act("why", tr("问题与机制", "Problem and mechanism"))
def why() -> None:
    chapter.say("why")
    label = tr("每秒请求数", "Arrivals per s")
    rate = chapter.pick("rate", label, ladder.RATES, start=BUSY)
    spread = Spread(LARGE_MODEL, specs.GPUS["H100 SXM"], MANY_GPUS, "tensor")
    rows = mechanisms.answers(ladder.ladder(rate), spread)
    chapter.draw(
        mechanisms.answers_figure(rows, large=chapter.large),
        "answers",
        alt=tr(
            "五个问题各一对横条：没有这个机制和有这个机制时的数字",
            "A pair of bars for each of five problems: without the mechanism and with it",
        ),
    )
    chapter.leaves_out("why_leaves_out", model=LARGE_MODEL.name, gpus=MANY_GPUS)
    chapter.say("why_result", **mechanisms.in_blanks(rows))
    chapter.say("why_not")
    chapter.flags("why_flags")
    chapter.leads(
        {
            tr("流式输出", "Streaming"): "03_latency",
            tr("批利用率", "Batch utilization"): "05_batching",
            tr("KV 池的大小", "Size of the KV pool"): "06_kv_cache",
            tr("KV 碎片", "Fragmentation"): "07_fragmentation",
            tr("重复的前缀", "Repeated prefixes"): "08_prefix_cache",
            tr("高并发", "High concurrency"): "09_chunked_prefill",
            tr("投机解码", "Speculation"): "10_spec_decode",
            tr("CUDA Graph", "CUDA graphs"): "11_cuda_graph",
            tr("权重与 KV 的格式", "Formats of weights and KV"): "12_quantization",
        }
    )


@chapter.act("pressure", tr("显存满了", "Full KV"), deeper=True)
def memory_pressure() -> None:
    chapter.say("pressure", requests=pressure.TRAFFIC.num_requests)
    pool = int(
        chapter.pick("pool", tr("KV 池", "KV pool"), POOLS, start=3_072, unit=TOKENS, live=True)
    )
    label = tr("请求里的 max_tokens", "max_tokens in the requests")
    allowed = int(chapter.choose("max_tokens", label, pressure.limits(), start="512"))
    label = tr("TensorRT-LLM 的策略", "TensorRT-LLM's policy")
    capacity = chapter.choose("capacity", label, CAPACITY, start="no_evict", advanced=True)
    label = tr("SGLang 的保守程度", "SGLang's conservativeness")
    guess = float(chapter.pick("guess", label, CONSERVATIVENESS, start=1.0, advanced=True))
    found = pressure.outcomes(
        Comparison(pressure.CLOCK, pool, allowed, guess, max_utilization=capacity == "utilization")
    )
    chapter.cards(pressure.cards(found))
    chapter.draw(
        pressure.memory_figure(found, pool, large=chapter.large),
        "memory",
        alt=tr(
            "三个服务器的 KV 池随时间：在用的、留给以后的、谁在何时被打断",
            "The KV pools of three servers over time: in use, kept for later, and who is "
            "interrupted when",
        ),
    )
    chapter.leaves_out(
        "pressure_leaves_out",
        model=pressure.CLOCK.model.name,
        gpu=pressure.CLOCK.gpu.name,
        room=count(pressure.CARD_TOKENS),
        answer=significant(pressure.answer_tokens()),
    )
    chapter.say("pressure_result", **pressure.in_blanks(found))
    chapter.say("pressure_trade")
    chapter.presets(
        {
            "pressure_known": USUAL | {"max_tokens": "0"},
            "pressure_bold": USUAL | {"max_tokens": "0", "guess": 0.3},
            "pressure_far": USUAL | {"max_tokens": "1024"},
            "pressure_pause": USUAL | {"capacity": "utilization"},
            "pressure_room": USUAL | {"pool": 16_384, "max_tokens": "0"},
        }
    )
    chapter.flags("pressure_flags")


@chapter.act("format", tr("结构化生成", "Structured generation"))
def structured() -> None:
    chapter.say("format")
    label = tr("正则表达式或 JSON Schema", "Regex or JSON Schema")
    typed = chapter.write(label, start=SCHEMA, is_prompt=False, most=MOST_LETTERS)
    is_masked = chapter.toggle("mask", tr("掩码", "Mask"), start=True)
    jumps = chapter.toggle("jump", tr("向前跳", "Jump ahead"))
    label = tr("温度", "Temperature")
    temperature = float(
        chapter.choose("temperature", label, TEMPERATURES, start="0.7", advanced=True)
    )
    seed = int(chapter.slide("seed", tr("随机种子", "Seed"), 0, 20, start=0, advanced=True))
    used, problem = grammar.readable(typed, otherwise=SCHEMA)
    chapter.problem(problem, "format_kept")
    text = grammar.written(used, is_masked, jumps, temperature, seed)
    alt = tr(
        "逐个 token：文本、状态和能走的路、整个索引、掩码前后的概率",
        "Token by token: the text, the state and its ways on, the whole index, probabilities "
        "before and after the mask",
    )
    chapter.play(grammar.as_frames(text, alt), "grammar")
    chapter.leaves_out("format_leaves_out", tokens=grammar.NUM_TOKENS)
    chapter.say(
        "format_numbers",
        **grammar.size(text.format),
        tokens=count(len(text.pieces)),
        passes=count(text.num_passes),
    )
    chapter.say(OUTCOMES[text.outcome])
    chapter.explain("format_how", pattern=grammar.shown_pattern(text.format))
    chapter.presets(FORMATS)
    chapter.say("format_real")


@chapter.act("price", tr("掩码的代价", "The price of masks"), deeper=True)
def price() -> None:
    chapter.say("price")
    label = tr("一个掩码（微秒）", "One mask (µs)")
    mask = chapter.pick("mask_us", label, MASK_MICROSECONDS, start=200, live=True)
    label = tr("批大小", "Batch")
    batch = int(chapter.pick("batch", label, several_gpus.BATCHES, start=64, live=True))
    clock = Roofline(specs.MODELS["Llama-3.1-8B"], specs.GPUS["H100 SXM"])
    free, hidden, waits = masks.mask_works(clock, mask)
    chapter.cards(
        [
            Card(tr("不约束", "No format"), masks.rate_in_words(free, batch)),
            Card(tr("同时算", "Made meanwhile"), masks.rate_in_words(hidden, batch)),
            Card(tr("先后算", "One after the other"), masks.rate_in_words(waits, batch)),
        ]
    )
    chapter.draw(
        masks.masked_throughput(clock, mask, batch, large=chapter.large),
        "masks",
        alt=tr(
            "输出 token/s 随批大小：不约束、同时算掩码、先后算",
            "Output tokens/s by batch: no format, masks made meanwhile, one after the other",
        ),
    )
    chapter.leaves_out("price_leaves_out", model=clock.model.name, gpu=clock.gpu.name)
    chapter.say(
        "price_result",
        most=microseconds(hidden.longest_hidden_seconds(batch)),
        step=seconds(free.step_seconds(batch)),
        batch=batch,
        **grammar.cost(SCHEMA),
    )
    chapter.presets(
        {
            "price_fast": {"mask_us": 20, "batch": 128},
            "price_slow": {"mask_us": 2000, "batch": 64},
        }
    )


@chapter.act("gpus", tr("几张卡", "Several GPUs"), deeper=True)
def gpus() -> None:
    chapter.say("gpus")
    num_gpus = int(
        chapter.choose("gpus", tr("GPU 数", "GPUs"), several_gpus.gpu_counts(), start="2")
    )
    model = specs.MODELS[chapter.choose("model", tr("模型", "Model"), MODELS, start="Llama-3.1-8B")]
    gpu = specs.GPUS[chapter.choose("gpu", "GPU", GPUS, start="H100 SXM", advanced=True)]
    label = tr("提示词长度", "Prompt length")
    prompt = int(chapter.pick("prompt", label, PROMPTS, start=1_024, unit=TOKENS))
    label = tr("同时解码的请求", "Requests decoding")
    batch = int(chapter.pick("batch", label, several_gpus.BATCHES, start=DECODING, advanced=True))
    found = several_gpus.spreads(model, gpu, num_gpus)
    chapter.cards(
        [Card(*several_gpus.spread_card(way, spread, batch)) for way, spread in found.items()]
    )
    chapter.draw(
        several_gpus.itl_over_gpus(model, gpu, batch, num_gpus, large=chapter.large),
        "spread",
        alt=tr(
            "三种办法的 ITL 随 GPU 数怎样变",
            "ITL by the number of GPUs, for the three ways to spread a model",
        ),
    )
    parted = Parted(Roofline(model, gpu), prompt, ANSWER_TOKENS, DECODING)
    wide = several_gpus.with_gaps_as_long(parted)
    chapter.draw(
        several_gpus.parted_figure(parted, wide, large=chapter.large),
        "parted",
        alt=tr(
            "两张卡都做两样，或一张预填充一张解码：有预填充时的 ITL、每秒最多的请求",
            "Two GPUs that both do both, or one for each: ITL beside a prefill, requests/s",
        ),
    )
    chapter.leaves_out("gpus_leaves_out", link=gpu.link.name, answer=ANSWER_TOKENS, batch=DECODING)
    alone = several_gpus.spreads(model, gpu, 1)
    chapter.say("gpus_result", **several_gpus.spread_blanks(found, alone, batch))
    if several_gpus.lacks_room(alone["tensor"], batch):
        chapter.say(
            "gpus_no_room",
            batch=count(batch),
            gpu=gpu.name,
            gpus=num_gpus,
            fits=several_gpus.num_fitting(alone["tensor"], batch),
            fits_split=several_gpus.num_fitting(found["tensor"], batch),
        )
    chapter.say(
        "gpus_parted",
        quiet=seconds(parted.quiet_itl_seconds),
        mixed=seconds(parted.mixed_itl_seconds),
        together=significant(parted.together_per_second),
        apart=significant(parted.apart_per_second),
        batch=DECODING,
        wide=wide.batch,
        goodput=significant(wide.apart_per_second),
        transfer=seconds(parted.transfer_seconds),
        prompt=count(prompt),
    )
    chapter.presets(
        {
            "gpus_large": SPREAD | {"model": "Llama-3.1-70B", "gpus": "4"},
            "gpus_pcie": SPREAD | {"gpu": "RTX 4090", "gpus": "8"},
            "gpus_long": SPREAD | {"prompt": 4096},
        }
    )


@chapter.act("layers", tr("层次", "Layers"))
def layers() -> None:
    chapter.say("layers")
    project = chapter.choose("project", tr("项目", "Project"), PROJECTS, start="vllm")
    chapter.draw(
        projects.layers_figure(project, large=chapter.large),
        "layers",
        alt=tr(
            "四层：应用、服务运行时、kernel 库、GPU；每个项目框住它所在的层",
            "Four layers: application, serving runtime, kernel library, GPU; each project frames "
            "its own",
        ),
        opens="project",
    )
    chapter.leaves_out("layers_leaves_out", "measured", "layer-docs")
    chapter.say(TOLD[project])
    chapter.say("layers_readme")
    chapter.leads(
        {
            tr("“分页的 KV”", "“paged KV”"): "07_fragmentation",
            tr("“自动复用前缀”", "“automatic prefix reuse”"): "08_prefix_cache",
            tr("“RadixAttention”", "“RadixAttention”"): "08_prefix_cache",
            tr("“迭代级调度”", "“in-flight batching”"): "05_batching",
            tr("“投机解码”", "“speculative decoding”"): "10_spec_decode",
            tr("“CUDA Graph”", "“CUDA graphs”"): "11_cuda_graph",
            tr("“FP8、INT4”", "“FP8, INT4”"): "12_quantization",
        }
    )


@chapter.act("check", tr("自测", "Self-check"))
def check() -> None:
    chapter.say("check")
    chapter.quiz()
    chapter.flags()


chapter.show()
