"""Chapter 12.  Quantization: fewer bytes for a weight, and what they buy.

The reader divides the memory of a GPU among weights and KV in several formats, follows their speed
along the batch and in prefill, rounds real weights one scale after the other, reads what the real
tiny model writes afterwards, and puts a server under load to see where its gain comes from.
"""

from sim import scheduler, specs, workload
from sim.engine import Setup
from sim.formats import Stored
from ui import formats as pictures
from ui import lesson, predict, runs
from ui.lesson import Card, tr
from ui.numbers import count, memory, percent, seconds, significant

WEIGHTS = {name: name for name in specs.WEIGHT_FORMATS}
SMALLER = ("fp8", "int8", "int4")
KV = {"bf16": "bf16", "fp8": "fp8"}
MODEL, LARGER = "Llama-3.1-8B", "Qwen3-14B"
MODELS = {MODEL: MODEL, LARGER: LARGER}
GPU = "RTX 4090"
GPUS = {name: name for name in (GPU, "A100 80G SXM", "H100 SXM")}
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
CONTEXTS = (128, 256, 512, 1_024)
PROMPT = 2_048
ASKED_BATCH, ASKED_CONTEXT = 256, 128  # in the prediction

SPEEDS: dict[str, dict[str, object]] = {
    "speed_alone": {"batch": 1},
    "speed_crowd": {"batch": 256},
    "speed_long": {"batch": 64, "context": 1024},
    "speed_a100": {"gpu": "A100 80G SXM", "batch": 256},
}

RATES = (2, 6, 9, 12, 16)
LOAD_REQUESTS, LOAD_PROMPT, LOAD_OUTPUT = 200, 512, 256
LOADS: dict[str, dict[str, object]] = {
    "load_light": {"rate": 2},
    "load_kv": {"weights": "bf16", "kv": "fp8"},
    "load_int8": {"weights": "int8"},
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
    stored = {one: Stored(model, gpu, one, kv) for one in WEIGHTS}
    rows = {"bf16": stored["bf16"], "fp8, int8": stored["fp8"], "int4": stored["int4"]}
    chosen = stored[weights]

    before = Stored(specs.MODELS[MODEL], gpu)
    after = Stored(before.published, gpu, "int4")
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
    published = Stored(model, gpu, kv=kv)
    smaller = [Stored(model, gpu, name, kv) for name in SMALLER]
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


@chapter.act("load", tr("顶着负载", "Under load"), deeper=True)
def load() -> None:
    chapter.say("load", prompt=LOAD_PROMPT, output=LOAD_OUTPUT, gpu=GPU, model=MODEL)
    weights, kv = choose_weights("int4"), choose_kv()
    label = tr("每秒到达的请求", "Requests per second")
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
    published, chosen = Stored(model, gpu), Stored(model, gpu, weights, kv)
    policy = scheduler.Chunked(256)
    name = chosen.name
    servers = {
        "bf16": Setup(requests, policy, published.pool(), published.clock),
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


chapter.show()
