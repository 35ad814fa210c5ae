"""Chapter 2.  Prefill and decode: the same weights, two shapes of work, two bottlenecks.

The reader sees the matrices of either phase to scale and guesses from how many requests on
decoding computes longer than it reads; walks a batch along the roofline and sees attention stay
behind; plays one prefill and its decode steps; and measures thin and tall matrices on this machine.
"""

from typing import Any

from sim import scheduler, specs, workload
from sim.cost import Roofline, phases
from sim.cost.published import PUBLISHED
from sim.engine import Setup
from sim.kv import Paged
from sim.kv.sizes import Division
from sim.scheduler import Load
from ui import lesson
from ui.lesson import Card, tr
from ui.practice import predict
from ui.results import runs
from ui.subjects.phases import measured, pictures, roofline_pictures
from ui.words.numbers import count, memory, percent, plain, scaled, seconds, significant

MODELS = ("Llama-2-7B", "Llama-3.1-8B", "Qwen2.5-7B")
GPUS = ("RTX 4090", "L40S", "A100 80G SXM", "H100 SXM", "H200 SXM")
MODEL, GPU = "Llama-3.1-8B", "H100 SXM"
PROMPTS = (16, 32, 64, 128, 256, 512, 1_024, 2_048)
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024)
CONTEXTS = (64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384)

OUTPUT = 10

STATES: dict[str, dict[str, object]] = {
    "short_prompt": {"prompt": 64},
    "large_batch": {"batch": 512, "context": 128},
    "long_context": {"batch": 256, "context": 1024},
    "small_card": {"gpu": "RTX 4090", "batch": 128},
}

chapter = lesson.open(__file__)
TOKENS = tr("token", "tokens")


def choose_clock() -> Roofline:
    model = chapter.choose("model", tr("模型", "Model"), MODELS, start=MODEL, advanced=True)
    gpu = chapter.choose("gpu", "GPU", GPUS, start=GPU, advanced=True)
    return Roofline(specs.MODELS[model], specs.GPUS[gpu])


def choose_prompt() -> int:
    label = tr("提示词长度", "Prompt length")
    return int(chapter.pick("prompt", label, PROMPTS, start=2_048, unit=TOKENS, live=True))


def choose_batch() -> int:
    label = tr("一起解码的请求", "Requests decoding")
    return int(chapter.pick("batch", label, BATCHES, start=1, live=True))


def limit(memory_bound: bool) -> str:
    return tr("受带宽限制", "memory-bound") if memory_bound else tr("受算力限制", "compute-bound")


def room(clock: Roofline, load: Load) -> str:
    """Whether the KV of a step fits beside the weights."""
    fits = load.kv_tokens <= Division(clock.model, clock.gpu).pool_tokens
    return "" if fits else tr("放不下", "does not fit")


@chapter.act("hook", tr("两种形状", "Two shapes"))
def hook() -> None:
    clock = choose_clock()
    fixed = seconds(clock.used_efficiency.fixed_seconds)
    chapter.say("hook", model=clock.model.name, gpu=clock.gpu.name, fixed=fixed)
    kinds = {"prefill": tr("预填充", "Prefill"), "decode": tr("解码", "Decode")}
    phase = chapter.choose("phase", tr("阶段", "Phase"), kinds, start="prefill")
    prompt, batch = choose_prompt(), choose_batch()
    loads = {"prefill": phases.prefill(prompt), "decode": phases.decode(batch, prompt + 1)}
    kv_words = {"prefill": tr("写 KV", "KV written"), "decode": tr("读 KV", "KV read")}
    load = loads[phase]
    steps = {name: clock.breakdown(one) for name, one in loads.items()}
    step = steps[phase]

    start = Roofline(specs.MODELS[MODEL], specs.GPUS[GPU])
    truth = phases.weights_crossover(start)
    guess = chapter.predict(
        "crossover",
        chapter.words("hook_question", model=MODEL, gpu=GPU),
        predict.Value(1, 2_000, tr("个请求", "requests"), truth=truth),
        outcome=chapter.words("hook_outcome", truth=truth, ridge=significant(start.ridge), gpu=GPU),
    )
    chapter.cards(
        [
            Card(tr("输入的行", "Rows in"), count(load.num_tokens)),
            Card(kv_words[phase], memory(step.attention.bytes_moved), room(clock, load)),
            Card(
                tr("搬运", "Moved"),
                memory(step.whole.bytes_moved),
                tr("权重 ", "weights ") + memory(step.weights.bytes_moved),
            ),
            Card(tr("计算", "Computed"), scaled(step.whole.flops, "FLOP")),
            Card(
                tr("每字节运算", "FLOP per byte"),
                significant(step.whole.intensity),
                limit(step.whole.memory_bound),
            ),
        ]
    )
    chapter.draw(
        pictures.matrices(clock.model, load.num_tokens, PROMPTS[-1], phase, large=chapter.large),
        "matrices",
        alt=tr(
            "按比例画的三个矩阵：输入乘权重得输出；预填充时输入很高，解码时只是一条细线",
            "Three matrices to scale, rows in times weights gives rows out; thin when decoding",
        ),
    )
    chapter.draw(
        pictures.kernel_bar(
            clock.kernels(load), clock.used_efficiency.fixed_seconds, large=chapter.large
        ),
        "kernels",
        alt=tr(
            "一步是一条由 kernel 接成的条；下面两行是每个 kernel 搬运和计算各要多久",
            "The step as a bar of kernels; below, how long each of them moves bytes and computes",
        ),
    )
    chapter.leaves_out("hook_leaves_out", model=clock.model.name)
    before, after = steps["prefill"].whole, steps["decode"].whole
    chapter.say(
        "hook_result",
        after=guess,
        prompt=count(prompt),
        batch=count(batch),
        weights=memory(steps["decode"].weights.bytes_moved),
        prefill_intensity=significant(before.intensity),
        decode_intensity=significant(after.intensity),
        prefill_limit=limit(before.memory_bound),
        decode_limit=limit(after.memory_bound),
        prefill_time=seconds(clock.step_time(loads["prefill"]).seconds),
        decode_time=seconds(clock.step_time(loads["decode"]).seconds),
    )


@chapter.act("roofline", tr("一条屋顶线", "One roofline"))
def roofline() -> None:
    clock = choose_clock()
    chapter.say("roofline", gpu=clock.gpu.name)
    batch = choose_batch()
    label = tr("各自的上下文", "Context of each")
    context = int(chapter.pick("context", label, CONTEXTS, start=512, unit=TOKENS, live=True))
    prompt = choose_prompt()
    fitting = Division(clock.model, clock.gpu).num_requests(context)
    step = clock.breakdown(phases.decode(batch, context))
    prefill = clock.breakdown(phases.prefill(prompt)).whole
    parts = {
        tr("解码：权重", "Decode: weights"): step.weights,
        tr("解码：注意力", "Decode: attention"): step.attention,
        tr("解码：整步", "Decode: whole step"): step.whole,
        tr("预填充", "Prefill"): prefill,
    }
    chapter.cards(
        [
            Card(name, f"{significant(part.intensity)} FLOP/B", limit(part.memory_bound))
            for name, part in parts.items()
        ]
    )
    chapter.draw(
        roofline_pictures.roofline(clock, prompt, batch, context, large=chapter.large),
        "roof",
        alt=tr(
            "屋顶线：横轴每字节运算次数，纵轴 TFLOP/s；预填充在平顶上，解码的权重部分随批走向拐点，"
            "注意力留在左边",
            "A roofline: FLOP per byte against TFLOP/s; prefill on the flat part, decode's weights "
            "walking to the ridge with the batch, its attention staying on the left",
        ),
    )
    chapter.draw(
        pictures.along_the_batch(clock, BATCHES, context, batch, fitting, large=chapter.large),
        "batch",
        alt=tr(
            "横轴是批，纵轴是一个解码步搬运和计算各要多久；两条线相交处从受带宽限制变成受算力限制",
            "Moving and computing time of a decode step along the batch; it turns where they cross",
        ),
    )
    chapter.leaves_out("roofline_leaves_out", ridge=significant(clock.gpu.ridge))
    one = clock.breakdown(phases.decode(1, context))
    turn = phases.step_crossover(clock, context)
    chapter.say(
        "roofline_result",
        turn=phases.weights_crossover(clock),
        prompt=phases.prompt_crossover(clock),
        ridge=significant(clock.ridge),
        queries=clock.model.q_heads,
        heads=clock.model.kv_heads,
        attention=significant(step.attention.intensity),
    )
    numbers: dict[str, Any] = {"context": count(context), "gpu": clock.gpu.name}
    if turn is None:
        chapter.say(
            "step_never",
            kv=seconds(one.attention.memory_seconds),
            compute=seconds(one.whole.compute_seconds),
            **numbers,
        )
    elif turn > fitting:
        chapter.say("step_too_large", turn=count(turn), fitting=count(fitting), **numbers)
    else:
        chapter.say("step_turns", turn=count(turn), **numbers)
    chapter.presets(STATES)
    chapter.explain(
        "roofline_formula",
        batch=count(batch),
        context=count(context),
        weights=memory(step.weights.bytes_moved),
        kv=memory(step.attention.bytes_moved),
        weight_flops=scaled(step.weights.flops, "FLOP"),
        attention_flops=scaled(step.attention.flops, "FLOP"),
        bandwidth=scaled(clock.bytes_per_second, "B/s"),
        peak=scaled(clock.flops_per_second, "FLOP/s"),
        moving=seconds(step.whole.memory_seconds),
        computing=seconds(step.whole.compute_seconds),
        fixed=seconds(clock.used_efficiency.fixed_seconds),
        step=seconds(clock.step_time(phases.decode(batch, context)).seconds),
        measured_model=PUBLISHED.clock.model.name,
        measured_gpu=PUBLISHED.clock.gpu.name,
        measured_rate=plain(PUBLISHED.tokens_per_second),
        measured=seconds(PUBLISHED.seconds),
        reached=percent(PUBLISHED.reached),
        ours=seconds(PUBLISHED.computed_seconds),
    )
    chapter.flags()


@chapter.act("steps", tr("一步一步", "Step by step"))
def steps() -> None:
    chapter.say("steps")
    clock = choose_clock()
    label = tr("提示词 token", "Prompt tokens")
    prompt = int(chapter.slide("short", label, 4, 16, start=12, live=True))
    label = tr("一起来的请求", "Requests together")
    number = int(chapter.slide("together", label, 1, 4, start=1, live=True))
    requests = workload.of_lengths([OUTPUT] * number, prompt)
    setup = Setup(requests, scheduler.Chunked(8), Paged(num_blocks=64), clock)
    passes = runs.steps(setup)
    alt = tr(
        "逐步播放：左边输入的行，中间权重，右边每个请求的 KV",
        "Step by step: rows in on the left, the weights, and the KV of each request on the right",
    )
    chapter.play(pictures.passes(passes, clock, alt), "passes")
    chapter.leaves_out("steps_leaves_out")
    first, *rest = passes
    chapter.say(
        "steps_result",
        rows=count(first.num_tokens),
        weights=memory(clock.weight_bytes(1)),
        readings=count(len(rest)),
        written=count(sum(step.num_tokens for step in rest)),
        prefill=seconds(first.seconds),
        decode=seconds(rest[0].seconds),
        model=clock.model.name,
        gpu=clock.gpu.name,
    )
    chapter.say("sides")


@chapter.act("measured", tr("在这台机器上量", "Measured here"), deeper=True)
def measure() -> None:
    chapter.say("measured", cpu=measured.cpu())
    results = chapter.press(
        "measure", tr("量一量", "Measure"), tr("正在量…", "Measuring…"), measured.here
    )
    if results is None:
        chapter.say("measured_before")
        return
    one, *_, many = results.products
    alone, together = results.alone, results.together
    chapter.cards(
        [
            Card(
                tr("1 行", "1 row"),
                scaled(one.flops_per_second, "FLOP/s"),
                scaled(one.bytes_per_second, "B/s"),
            ),
            Card(
                tr(f"{many.rows} 行", f"{many.rows} rows"),
                scaled(many.flops_per_second, "FLOP/s"),
                scaled(many.bytes_per_second, "B/s"),
            ),
        ]
    )
    chapter.draw(
        measured.own_roofline(results, large=chapter.large),
        "own",
        alt=tr(
            "这台机器的屋顶线：每个点是一种行数，1 行在左下，行数越多越往右",
            "This machine's roofline: a point per number of rows, a single row at the lower left",
        ),
    )
    chapter.draw(
        measured.paces(results, large=chapter.large),
        "paces",
        alt=tr(
            "小模型每秒处理多少 token：预填充、单独解码、几个一起解码",
            "Tokens per second of the tiny model: prefill, decoding alone, decoding together",
        ),
    )
    chapter.leaves_out("measured_leaves_out", mark="here", source=measured.cpu())
    chapter.say(
        "measured_result",
        one=scaled(one.flops_per_second, "FLOP/s"),
        bandwidth=scaled(one.bytes_per_second, "B/s"),
        rows=many.rows,
        many=scaled(many.flops_per_second, "FLOP/s"),
        times=significant(results.gain),
        prefill=count(results.prefill.tokens_per_second),
        alone=count(alone.tokens_per_second),
        together=count(together.tokens_per_second),
    )


@chapter.act("check", tr("自测", "Self-check"))
def check() -> None:
    chapter.say("check")
    chapter.quiz()


chapter.show()
