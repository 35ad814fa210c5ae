"""Chapter 12.  Quantization: fewer bytes for a weight, and what they buy.

The reader divides the memory of a GPU among weights and KV in several formats, follows their speed
along the batch and in prefill, rounds real weights one scale after the other, reads what the real
tiny model writes afterwards, and puts a server under load to see where its gain comes from.
"""

from sim import scheduler, specs, workload
from sim.cost.formats import StoredModel
from sim.engine import Setup
from ui import lesson
from ui.lesson import Card, tr
from ui.practice import predict
from ui.results import runs
from ui.subjects.quantization import formats as pictures
from ui.subjects.quantization import rounded, rounding
from ui.words.numbers import count, memory, percent, seconds, significant

WEIGHTS = tuple(specs.WEIGHT_FORMATS)
SMALLER = ("fp8", "int8", "int4")
KV = {"bf16": "bf16", "fp8": "fp8"}
MODEL, LARGER = "Llama-3.1-8B", "Qwen3-14B"
MODELS = (MODEL, LARGER)
GPU = "RTX 4090"
GPUS = (GPU, "A100 80G SXM", "H100 SXM")
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
CONTEXTS = (128, 256, 512, 1_024)
PROMPT = 2_048
ASKED_BATCH, ASKED_CONTEXT = 256, 128  # in the prediction

SPEEDS: dict[str, dict[str, object]] = {
    "speed_alone": {"gpu": GPU, "batch": 1, "context": ASKED_CONTEXT},
    "speed_crowd": {"gpu": GPU, "batch": 256, "context": ASKED_CONTEXT},
    "speed_long": {"gpu": GPU, "batch": 64, "context": 1024},
    "speed_a100": {"gpu": "A100 80G SXM", "batch": 256, "context": ASKED_CONTEXT},
}

ROWS: dict[str, dict[str, object]] = {
    "row_outlier": {"format": "int4", "outlier": 16, "sharing": "channel"},
    "row_grouped": {"format": "int4", "outlier": 16, "sharing": "group"},
    "row_fp8": {"format": "fp8", "outlier": 16, "sharing": "tensor"},
}
PARAGRAPHS: dict[str, dict[str, object]] = {
    "text_int8": {"format": "int8", "outlier": 1, "sharing": "channel"},
    "text_outlier": {"format": "int4", "outlier": 16, "sharing": "tensor"},
    "text_grouped": {"format": "int4", "outlier": 16, "sharing": "group"},
}

RATES = (2, 6, 9, 12, 16)
LOAD_REQUESTS, LOAD_PROMPT, LOAD_OUTPUT = 200, 512, 256
LOADS: dict[str, dict[str, object]] = {
    "load_light": {"weights": "int4", "kv": "bf16", "rate": 2},
    "load_kv": {"weights": "bf16", "kv": "fp8", "rate": 12},
    "load_int8": {"weights": "int8", "kv": "bf16", "rate": 12},
}

chapter = lesson.open(__file__)
TOKENS = tr("token", "tokens")


def choose_weights(start: str) -> str:
    return chapter.choose("weights", tr("权重", "Weights"), WEIGHTS, start=start)


def choose_kv() -> str:
    return chapter.choose("kv", "KV", KV, start="bf16")


def choose_gpu() -> specs.Gpu:
    return specs.GPUS[chapter.choose("gpu", "GPU", GPUS, start=GPU, advanced=True)]


@chapter.act("hook", tr("同一张卡", "One GPU"))
def hook() -> None:
    chapter.say("hook", gpu=GPU)
    name = chapter.choose("model", tr("模型", "Model"), MODELS, start=MODEL)
    weights, kv = choose_weights("bf16"), choose_kv()
    gpu, model = specs.GPUS[GPU], specs.MODELS[name]
    stored = {one: StoredModel(model, gpu, one, kv) for one in WEIGHTS}
    rows = {"bf16": stored["bf16"], "fp8, int8": stored["fp8"], "int4": stored["int4"]}
    chosen = stored[weights]

    before = StoredModel(specs.MODELS[MODEL], gpu)
    after = StoredModel(before.published, gpu, "int4")
    asked = (ASKED_BATCH, ASKED_CONTEXT)
    metrics = {
        "alone": tr("一个请求，解码一步的时间", "Decode step, one request"),
        "crowd": tr(
            f"{ASKED_BATCH} 个请求，解码一步的时间", f"Decode step, {ASKED_BATCH} requests"
        ),
        "prefill": tr("读一段长提示词的时间", "Prefill of a long prompt"),
        "kv": tr("每个 token 的 KV", "KV of one token"),
    }
    truth = {
        "alone": predict.trend(before.decode_seconds(1, 128), after.decode_seconds(1, 128)),
        "crowd": predict.trend(before.decode_seconds(*asked), after.decode_seconds(*asked)),
        "prefill": predict.trend(before.prefill_seconds(PROMPT), after.prefill_seconds(PROMPT)),
        "kv": predict.trend(before.model.kv_bytes_per_token, after.model.kv_bytes_per_token),
    }
    guess = chapter.predict(
        "int4",
        chapter.words("hook_question", model=MODEL),
        predict.Trends(metrics, truth),
        outcome=chapter.words(
            "hook_outcome",
            alone=significant(after.decode_gain(1, ASKED_CONTEXT)),
            crowd=percent(after.decode_gain(*asked)),
            prefill=percent(after.prefill_gain(PROMPT)),
            batch=ASKED_BATCH,
        ),
    )
    chapter.cards(
        [
            Card(tr("权重", "Weights"), memory(chosen.model.memory_bytes)),
            Card(tr("每 token 的 KV", "KV per token"), memory(chosen.model.kv_bytes_per_token)),
            Card(tr("池里放得下", "Pool holds"), count(chosen.pool_tokens), TOKENS),
            Card(
                tr("一步读取", "Read in a step"),
                memory(chosen.decode_bytes(1, ASKED_CONTEXT)),
                tr("一个请求", "one request"),
            ),
        ]
    )
    chapter.draw(
        pictures.divided(rows, chosen, large=chapter.large),
        "memory",
        alt=tr(
            "三条显存条：权重用 16、8、4 位时，各给 KV 留下多少",
            "Three bars of GPU memory: what weights of 16, 8 and 4 bits leave to KV",
        ),
    )
    chapter.leaves_out("hook_leaves_out")
    chapter.say(
        "hook_result",
        after=guess,
        model=name,
        gpu=GPU,
        kv=kv,
        bf16=memory(stored["bf16"].model.memory_bytes),
        fp8=memory(stored["fp8"].model.memory_bytes),
        int4=memory(stored["int4"].model.memory_bytes),
        pool_bf16=count(stored["bf16"].pool_tokens),
        pool_fp8=count(stored["fp8"].pool_tokens),
        pool_int4=count(stored["int4"].pool_tokens),
    )


@chapter.act("speed", tr("快在哪里", "Where it is faster"))
def speed() -> None:
    chapter.say("speed")
    gpu = choose_gpu()
    kv = chapter.choose("kv", "KV", KV, start="bf16", advanced=True)
    label = tr("一起解码的请求", "Requests decoding")
    batch = int(chapter.pick("batch", label, BATCHES, start=1, live=True))
    label = tr("各自的上下文", "Context of each")
    context = int(chapter.pick("context", label, CONTEXTS, start=128, unit=TOKENS, live=True))
    model = specs.MODELS[MODEL]
    published = StoredModel(model, gpu, kv=kv)
    smaller = [StoredModel(model, gpu, name, kv) for name in SMALLER]
    everything = [published, *smaller]
    chapter.cards(
        [
            Card(
                one.weights,
                seconds(one.decode_seconds(batch, context)),
                tr("读 ", "reads ") + memory(one.decode_bytes(batch, context)),
            )
            for one in everything
        ]
    )
    chapter.draw(
        pictures.decode_gains(smaller, batch, BATCHES[-1], context, large=chapter.large),
        "gains",
        alt=tr(
            "三种格式的解码步比 bf16 快几倍，随批变化；int4 起初最快，后来掉到 1 以下",
            "Gain of three formats over bf16 along the batch; int4 begins highest, drops below 1",
        ),
    )
    chapter.draw(
        pictures.prefills(everything, PROMPT, large=chapter.large),
        "prefill",
        alt=tr(
            "四种格式读同一段提示词各要多久；int4 比 bf16 久",
            "How long each of four formats takes to read a prompt; int4 takes longer than bf16",
        ),
    )
    chapter.leaves_out("speed_leaves_out", gpu=gpu.name)
    fp8, _, int4 = smaller
    chapter.say(
        "speed_result",
        gpu=gpu.name,
        context=count(context),
        alone=significant(int4.decode_gain(1, context)),
        bytes=percent(int4.decode_share(1, context)),
        prompt=count(PROMPT),
        prefill=percent(int4.prefill_gain(PROMPT)),
    )
    turn = int4.first_batch_that_loses(context, BATCHES[-1])
    if turn is None:
        chapter.say("speed_never", most=BATCHES[-1], context=count(context))
    else:
        fits = published.num_requests(context)
        section = "speed_turns" if turn <= fits else "speed_turns_beyond"
        chapter.say(section, turn=turn, fits=count(fits))
    chapter.say("speed_fp8_weight_only" if fp8.runs_weight_only else "speed_fp8", gpu=gpu.name)
    chapter.presets(SPEEDS)
    chapter.explain("speed_formula", gain=percent(int4.clock.used_efficiency.dequantization))
    chapter.flags()


def choose_rounding(live: bool) -> tuple[str, str, int]:
    """Format, who shares a scale, how large one input is made."""
    label = tr("格式", "Format")
    grid = chapter.choose("format", label, rounded.FORMATS, start="int4", advanced=chapter.large)
    label = tr("一个缩放系数管", "One scale per")
    names = rounded.granularity_names()
    granularity = chapter.choose("sharing", label, names, start="tensor")
    label = tr("离群输入放大", "Outlier, times")
    outlier = int(chapter.pick("outlier", label, rounded.OUTLIERS, start=1, live=live))
    return grid, granularity, outlier


@chapter.act("round", tr("真的舍入", "Really rounding"))
def round_weights() -> None:
    chapter.say("round")
    grid, _, outlier = chosen = choose_rounding(live=True)
    done = rounded.matrix(*chosen)
    bits = significant(done.bits_per_weight)
    chapter.cards(
        [
            Card(
                tr("每个权重", "Per weight"),
                tr(f"{bits} 位", f"{bits} bits"),
                tr("含缩放系数", "with scales"),
            ),
            Card(
                tr("误差", "Error"),
                percent(rounded.error(*chosen)),
                tr("整个矩阵", "whole matrix"),
            ),
            Card(tr("变成 0 的", "Turned to 0"), percent(done.zeroed_share)),
        ]
    )
    alt = tr(
        "一个通道的权重是一根根竖条；一步步出现级别的横线，权重走到最近的一条上",
        "Weights of a channel as bars; levels appear as lines, every weight goes to the nearest",
    )
    chapter.play(rounding.as_steps(*chosen, alt), "rounding")
    chapter.draw(
        rounding.histogram(*chosen, large=chapter.large),
        "histogram",
        alt=tr(
            "整个矩阵的权重分布：舍入前是一口钟，舍入后只剩几根柱子",
            "How the weights of the matrix are spread: a bell before, a few pillars after",
        ),
    )
    chapter.leaves_out("round_leaves_out")
    errors = {name: rounded.error(grid, name, outlier) for name in rounded.GRANULARITIES}
    chapter.say(
        "round_result",
        format=grid,
        outlier=outlier,
        tensor=percent(errors["tensor"]),
        channel=percent(errors["channel"]),
        group=percent(errors["group"]),
        bits=significant(rounded.matrix(grid, "group", outlier).bits_per_weight),
        size=rounded.GROUP_SIZE,
    )
    chapter.presets(ROWS)
    chapter.explain("round_formula", size=rounded.GROUP_SIZE)


@chapter.act("text", tr("文字损失了什么", "What the text loses"))
def text() -> None:
    chapter.say("text")
    grid, sharing, outlier = chosen = choose_rounding(live=False)  # nine models read and are judged
    prompt = chapter.write(tr("让它接着写", "Let it go on from"), rounded.START)
    after = rounded.judged(*chosen)
    before = rounded.original_loss()
    chapter.cards(
        [
            Card(
                tr("损失", "Loss"),
                significant(after.loss),
                tr("原来 ", "before ") + significant(before),
            ),
            Card(
                tr("变化", "Change"),
                rounded.with_error(after),
                tr("± 标准误差", "± standard error"),
            ),
            Card(tr("首选相同", "Same top token"), percent(after.agreement)),
        ]
    )
    chapter.draw(
        rounding.losses(outlier, (grid, sharing), large=chapter.large),
        "losses",
        alt=tr(
            "九行：每种格式和粒度让损失增加多少，右边是首选 token 相同的比例",
            "Nine rows: by how much the loss grows, and how often the top token stays the same",
        ),
    )
    chapter.draw(
        rounding.two_texts(prompt, *chosen, large=chapter.large),
        "texts",
        alt=tr(
            "原模型和量化后的模型各写几个 token，不同的加了粗框",
            "A few tokens by the original and by the quantized model; those that differ are framed",
        ),
    )
    chapter.leaves_out("text_leaves_out", places=count(rounded.num_places()))
    finest, coarse = (rounded.judged("int4", name, outlier) for name in ("group", "tensor"))
    int8 = rounded.judged("int8", "channel", outlier)
    chapter.say(
        "text_result",
        outlier=outlier,
        coarse=rounded.with_error(coarse),
        coarse_same=percent(coarse.agreement),
        finest=rounded.with_error(finest),
        finest_same=percent(finest.agreement),
        int8=rounded.with_error(int8),
        int8_same=percent(int8.agreement),
    )
    section = "text_noticed" if after.is_noticeable else "text_noise"
    chapter.say(section, format=grid, change=rounded.with_error(after))
    chapter.presets(PARAGRAPHS)
    chapter.say("beyond")


@chapter.act("load", tr("顶着负载", "Under load"), deeper=True)
def load() -> None:
    chapter.say("load", prompt=LOAD_PROMPT, output=LOAD_OUTPUT, gpu=GPU, model=MODEL)
    weights, kv = choose_weights("int4"), choose_kv()
    label = tr("每秒到达的请求", "Arrivals per s")
    rate = chapter.pick("rate", label, RATES, start=12, live=True)
    requests = runs.requests(
        workload.Workload(
            LOAD_REQUESTS,
            workload.PoissonArrivals(rate),
            workload.FixedLength(LOAD_PROMPT),
            workload.FixedLength(LOAD_OUTPUT),
        )
    )
    gpu, model = specs.GPUS[GPU], specs.MODELS[MODEL]
    published, chosen = StoredModel(model, gpu), StoredModel(model, gpu, weights, kv)
    policy = scheduler.Chunked(256)
    name = chosen.name
    servers = {
        tr("原样", "as published"): Setup(requests, policy, published.pool(), published.clock),
        tr(f"{name}，池不变", f"{name}, same pool"): Setup(
            requests, policy, published.pool(), chosen.clock
        ),
        name: Setup(requests, policy, chosen.pool(), chosen.clock),
    }
    before, same, after = (runs.summary(setup) for setup in servers.values())
    chapter.cards(
        [
            Card(tr("输出 token/s", "Output tokens/s"), count(after.output_tokens_per_second)),
            Card(tr("平均运行", "Running, mean"), significant(after.mean_running)),
            Card(tr("TTFT 中位数", "Median TTFT"), seconds(after.ttft.p50)),
            Card(tr("TPOT 中位数", "Median TPOT"), seconds(after.tpot.p50)),
        ]
    )
    chapter.draw(
        pictures.throughputs(servers, large=chapter.large),
        "throughput",
        alt=tr(
            "三台服务器每秒输出的 token：原样，换格式但池不变，换格式连池也变大",
            "Output tokens per second: as published, other format in the same pool, in its own",
        ),
    )
    chapter.draw(
        pictures.crowds(servers, large=chapter.large),
        "crowds",
        alt=tr(
            "运行和排队的请求数随时间变化，原样与换格式后",
            "Requests running and waiting over time, as published and in the other format",
        ),
    )
    chapter.leaves_out("load_leaves_out", policy=policy.max_num_seqs)
    chapter.say(
        "load_result",
        what=name,
        before=count(before.output_tokens_per_second),
        same=count(same.output_tokens_per_second),
        gained=count(after.output_tokens_per_second),
        running_before=significant(before.mean_running),
        running_after=significant(after.mean_running),
        ttft_before=seconds(before.ttft.p50),
        ttft_after=seconds(after.ttft.p50),
        tpot_before=seconds(before.tpot.p50),
        tpot_after=seconds(after.tpot.p50),
    )
    chapter.presets(LOADS)


@chapter.act("check", tr("自测", "Self-check"))
def check() -> None:
    chapter.say("check")
    chapter.quiz()


chapter.show()
