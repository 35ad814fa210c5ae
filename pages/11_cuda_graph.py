"""Chapter 11.  CUDA graphs: launches on a timeline, and one replay instead.

The reader sees the GPU wait for launches of the CPU and guesses how busy it is; replays the same
kernels as one graph on the same clock; walks the batch to where launches no longer matter; pads a
batch to a captured size and falls out of the largest; and prepares the next step while this one
runs.
"""

from typing import Any

from sim import specs
from sim.cost import KERNELS_PER_LAYER, LAUNCH_MICROSECONDS, Eager, Roofline, launches, phases
from sim.cost.launches import AHEAD, ONE_BY_ONE, REPLAY, LaunchWork
from sim.kv.sizes import Division
from ui import lesson
from ui.lesson import Card, tr
from ui.practice import predict
from ui.subjects.launches import lanes, pictures
from ui.words.numbers import count, in_percent, memory, microseconds, percent, seconds, significant

MODELS = {"Llama-3.2-1B": "1B", "Llama-3.1-8B": "8B", "Qwen3-14B": "14B"}
GPUS = ("L40S", "A100 80G SXM", "H100 SXM", "H200 SXM", "B200 SXM")
MODEL, GPU = "Llama-3.2-1B", "H100 SXM"
START = Eager(Roofline(specs.MODELS[MODEL], specs.GPUS[GPU]))
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024)
CONTEXTS = (128, 256, 512, 1_024, 2_048, 4_096)
CONTEXT = 512
KERNELS = (5, 8, 10, 12, 15, 20, 30, 40)  # of a layer
LAUNCHES = (2, 5, 10, 15, 20, 30, 50)  # microseconds for a kernel
SHOWN = 16  # kernels of a step in the hook
PROMPT = 2_048  # a prefill to compare with

LARGEST = (8, 16, 32, 64, 128, 256, 512)
MOST = 256  # of the batches beside captured sizes
MEBIBYTES = (6, 26, 50)  # for a captured size

HOST_MS = (0.25, 0.5, 1, 2, 4)
NUM_STEPS = 3
ALL = (ONE_BY_ONE, REPLAY, AHEAD)

USUAL: dict[str, object] = {"model": MODEL, "gpu": GPU, "batch": 1}
STATES: dict[str, dict[str, object]] = {
    "slow_card": USUAL | {"gpu": "L40S"},
    "large_batch": USUAL | {"batch": 512},
    "large_model": USUAL | {"model": "Qwen3-14B"},
    "fast_card": USUAL | {"model": "Qwen3-14B", "gpu": "B200 SXM"},
}

chapter = lesson.open(__file__)
TOKENS = tr("token", "tokens")
MACHINE = tr("机器与启动", "Machine and launches")  # a group of settings


def choose_clock() -> Eager:
    model = chapter.choose("model", tr("模型", "Model"), MODELS, start=MODEL)
    gpu = chapter.choose("gpu", "GPU", GPUS, start=GPU, group=MACHINE)
    label = tr("每层 kernel", "Kernels per layer")
    kernels = chapter.pick("kernels", label, KERNELS, start=KERNELS_PER_LAYER, group=MACHINE)
    label = tr("启动一个 kernel", "Launch of a kernel")
    launch = chapter.pick(
        "launch", label, LAUNCHES, start=LAUNCH_MICROSECONDS, unit="µs", group=MACHINE
    )
    roofline = Roofline(specs.MODELS[model], specs.GPUS[gpu])
    return Eager.of_microseconds(roofline, int(kernels), launch)


def choose_batch() -> int:
    label = tr("一起解码的请求", "Requests decoding")
    return int(chapter.pick("batch", label, BATCHES, start=1, live=True))


def choose_context() -> int:
    label = tr("各自的上下文", "Context of each")
    return int(chapter.pick("context", label, CONTEXTS, start=CONTEXT, unit=TOKENS, group=MACHINE))


def two_ways(work: LaunchWork) -> list[Card]:
    """ITL and how busy the GPU is, one by one and replayed."""
    busy = tr("GPU 忙 ", "GPU busy ")
    eager, graph = (launches.step_seconds(work, way) for way in (ONE_BY_ONE, REPLAY))
    return [
        Card(
            tr("启动整步", "Launching a step"),
            seconds(work.launching_seconds(ONE_BY_ONE)),
            f"{count(work.num_kernels)} × {microseconds(work.launch_seconds)}",
        ),
        Card(
            tr("GPU 要算", "GPU needs"),
            seconds(work.gpu_seconds),
            f"{count(work.num_kernels)} × {microseconds(work.kernel_seconds)}",
        ),
        Card(
            tr("ITL，逐个启动", "ITL, one by one"),
            seconds(eager),
            busy + percent(launches.busy_share(work, ONE_BY_ONE)),
        ),
        Card(
            tr("ITL，整图回放", "ITL, replayed"),
            seconds(graph),
            busy + percent(launches.busy_share(work, REPLAY)),
        ),
    ]


@chapter.act("hook", tr("逐个启动", "One by one"))
def hook() -> None:
    chapter.front("launch", live=("launch",))
    clock, batch, context = choose_clock(), choose_batch(), choose_context()
    work = LaunchWork.of(clock, phases.decode(batch, context))
    model = clock.roofline.model
    chapter.say("hook", model=model.name, gpu=clock.roofline.gpu.name, kernels=count(SHOWN))
    first = LaunchWork.of(START, phases.decode(1, CONTEXT))
    busy = launches.busy_share(first, ONE_BY_ONE)
    guess = chapter.predict(
        "busy",
        chapter.words("hook_question", model=MODEL, gpu=GPU),
        predict.Value(0, 100, "%", truth=in_percent(busy)),
        outcome=chapter.words(
            "hook_outcome",
            busy=percent(busy),
            kernels=count(first.num_kernels),
            launch=microseconds(first.launch_seconds),
            kernel=microseconds(first.kernel_seconds),
            eager=seconds(launches.step_seconds(first, ONE_BY_ONE)),
            graph=seconds(launches.step_seconds(first, REPLAY)),
        ),
    )
    if guess.state != "open":  # they tell the answer
        chapter.cards(two_ways(work))
    alt = tr(
        "上：CPU 逐个启动，GPU 在间隙里空等；下：一次启动整个图，GPU 连着执行",
        "Above: the CPU launches one by one, the GPU waits in between; below: one launch, no gaps",
    )
    ways = (ONE_BY_ONE, REPLAY)
    mine = guess.value if work == first else None
    chapter.play(lanes.first_kernels(work, ways, SHOWN, alt, mine), "kernels")
    chapter.leaves_out("hook_leaves_out", host=seconds(work.host_seconds))
    chapter.say(
        "hook_result",
        after=guess,
        layers=count(model.layers),
        each=count(clock.kernels_per_layer),
        kernels=count(work.num_kernels),
        launching=seconds(clock.launching_seconds),
        working=seconds(work.gpu_seconds),
        eager=seconds(launches.step_seconds(work, ONE_BY_ONE)),
        graph=seconds(launches.step_seconds(work, REPLAY)),
        busy_eager=percent(launches.busy_share(work, ONE_BY_ONE)),
        busy_graph=percent(launches.busy_share(work, REPLAY)),
        host=seconds(work.host_seconds),
    )
    chapter.say("launch_cost")


@chapter.act("when", tr("什么时候要紧", "When it matters"))
def when() -> None:
    chapter.say("when")
    clock, batch, context = choose_clock(), choose_batch(), choose_context()
    model, gpu = clock.roofline.model, clock.roofline.gpu
    work = LaunchWork.of(clock, phases.decode(batch, context))
    fitting = Division(model, gpu).num_requests(context)
    chapter.cards(two_ways(work))
    chapter.draw(
        pictures.along_the_batch(clock, BATCHES, context, batch, fitting, large=chapter.large),
        "batch",
        alt=tr(
            "横轴是批，纵轴是 ITL；逐个启动的线先平后升，和回放的线在右边相遇",
            "ITL along the batch; one by one is flat at first and meets the replay on the right",
        ),
    )
    prefill = LaunchWork.of(clock, phases.prefill(PROMPT))
    steps = {
        tr(f"解码，批 {batch:,}", f"decode, batch {batch:,}"): work,
        tr("预填充 128", "prefill of 128"): LaunchWork.of(clock, phases.prefill(128)),
        tr(f"预填充 {PROMPT:,}", f"prefill of {PROMPT:,}"): prefill,
    }
    chapter.draw(
        pictures.work_of_steps(steps, large=chapter.large),
        "steps",
        alt=tr(
            "几种步在 GPU 上各要多久；竖线是 CPU 启动一步的用时，线左边 GPU 在等",
            "GPU time of several steps; a line where launching takes as long, left of it it waits",
        ),
    )
    chapter.leaves_out("when_leaves_out")
    turn = launches.decode_crossover(clock, context)
    numbers: dict[str, Any] = {"model": model.name, "gpu": gpu.name, "context": count(context)}
    if turn == 1:
        chapter.say(
            "when_never",
            launching=seconds(clock.launching_seconds),
            working=seconds(LaunchWork.of(clock, phases.decode(1, context)).gpu_seconds),
            **numbers,
        )
    elif turn > fitting:
        chapter.say("when_always", turn=count(turn), fitting=count(fitting), **numbers)
    else:
        chapter.say("when_turns", turn=count(turn), **numbers)
    chapter.say(
        "when_prefill",
        tokens=count(launches.prefill_crossover(clock)),
        prompt=count(PROMPT),
        prefill_eager=seconds(launches.step_seconds(prefill, ONE_BY_ONE)),
        prefill_graph=seconds(launches.step_seconds(prefill, REPLAY)),
    )
    chapter.presets(STATES)
    chapter.explain(
        "when_formula",
        layers=count(model.layers),
        each=count(clock.kernels_per_layer),
        kernels=count(work.num_kernels),
        launch=microseconds(work.launch_seconds),
        launching=seconds(clock.launching_seconds),
        working=seconds(work.gpu_seconds),
        host=seconds(work.host_seconds),
        eager=seconds(launches.step_seconds(work, ONE_BY_ONE)),
        graph=seconds(launches.step_seconds(work, REPLAY)),
    )
    chapter.say("when_others")
    chapter.flags()


@chapter.act("sizes", tr("录下的大小", "Captured sizes"))
def sizes() -> None:
    chapter.say("sizes")
    label = tr("一起解码的请求", "Requests decoding")
    batch = int(chapter.slide("rows", label, 1, MOST, start=41, live=True))
    label = tr("录到多大", "Largest captured")
    largest = int(chapter.pick("largest", label, LARGEST, start=64, live=True))
    label = tr("每个图占的显存", "Memory of a graph")
    each = chapter.pick("mib", label, MEBIBYTES, start=6, unit="MiB", group=MACHINE)
    clock, context = choose_clock(), choose_context()
    known = launches.captured_sizes(largest)
    size = launches.padded(batch, known)
    taken = launches.graph_bytes(known, each)
    took = launches.captured_seconds(clock, batch, context, known)
    eager = launches.step_seconds(LaunchWork.of(clock, phases.decode(batch, context)), ONE_BY_ONE)
    rows = Card(tr("用哪个图", "Graph used"), tr("没有", "none"), tr("逐个启动", "one by one"))
    if size is not None:
        added = launches.padding(batch, size)
        rows = Card(
            tr("用哪个图", "Graph used"),
            count(size),
            tr(f"填充 {added} 行", f"padding rows: {added}"),
        )
    chapter.cards(
        [
            rows,
            Card("ITL", seconds(took), tr("逐个启动 ", "one by one ") + seconds(eager)),
            Card(tr("录了几个图", "Graphs captured"), count(len(known)), f"1 … {known[-1]}"),
            Card(
                tr("图占的显存", "Memory of graphs"),
                memory(taken),
                tr("少存 token ", "KV tokens lost ")
                + count(launches.kv_tokens_lost(clock.roofline.model, taken)),
            ),
        ]
    )
    chapter.draw(
        pictures.captured(clock, context, known, MOST, batch, large=chapter.large),
        "captured",
        alt=tr(
            "ITL 随批变化：录到的最大的图以内很低，一超出就跳到逐个启动的高度",
            "ITL along the batch: low up to the largest captured size, then it jumps to one by one",
        ),
    )
    chapter.draw(
        pictures.rows_of_step(batch, size, large=chapter.large),
        "rows",
        alt=tr("这一步算的行：请求的行，和填充的行", "Rows of this step: requests, and padding"),
    )
    chapter.leaves_out("sizes_leaves_out")
    chapter.say("sizes_why")
    last, beyond = launches.edge_seconds(clock, context, known)
    chapter.say(
        "sizes_result",
        largest=count(known[-1]),
        beyond=count(known[-1] + 1),
        inside=seconds(last),
        outside=seconds(beyond),
        number=count(len(known)),
    )
    chapter.say("sizes_memory", memory=memory(taken))
    chapter.presets(
        {
            "fits_exactly": {"rows": 64, "largest": 64},
            "one_too_many": {"rows": 65, "largest": 64},
            "large_enough": {"rows": 65, "largest": 128},
        }
    )


@chapter.act("ahead", tr("提前调度", "A step ahead"), deeper=True)
def ahead() -> None:
    chapter.say("ahead")
    label = tr("CPU 调度、准备一步", "CPU prepares a step")
    host = chapter.pick("host", label, HOST_MS, start=1, unit="ms", live=True)
    batch = choose_batch()
    clock, context = choose_clock(), choose_context()
    work = LaunchWork.of(
        clock, phases.decode(batch, context), host_seconds=launches.in_seconds(host)
    )
    alt = tr(
        "三条时间轴上下对齐：逐个启动，整图回放，整图回放并提前调度下一步",
        "Three timelines on one axis: one by one, replayed, replayed with the next step ahead",
    )
    chapter.cards(
        [
            Card(
                f"ITL · {lanes.name_of(way)}",
                seconds(launches.step_seconds(work, way)),
                tr("GPU 忙 ", "GPU busy ") + percent(launches.busy_share(work, way)),
            )
            for way in ALL
        ]
    )
    frames = lanes.whole_steps(work, ALL, clock.kernels_per_layer, NUM_STEPS, alt)
    chapter.play(frames, "steps")
    chapter.leaves_out("ahead_leaves_out")
    before, after = (launches.step_seconds(work, way) for way in (REPLAY, AHEAD))
    chapter.say(
        "ahead_result",
        before=seconds(before),
        early=seconds(after),
        faster=significant(launches.speedup(work, REPLAY, AHEAD)),
        host=seconds(work.host_seconds),
        working=seconds(work.gpu_seconds),
    )
    chapter.say(
        "ahead_gpu" if launches.gpu_bound_ahead(work) else "ahead_cpu",
        host=seconds(work.cpu_seconds(AHEAD)),
        working=seconds(work.gpu_seconds),
    )
    chapter.say("ahead_price")
    chapter.presets(
        {
            "ahead_large_model": {"model": "Llama-3.1-8B", "host": 1},
            "ahead_slow_host": {"model": MODEL, "host": 4},
            "ahead_fast_host": {"model": MODEL, "host": 0.25},
        }
    )


@chapter.act("check", tr("自测", "Self-check"))
def check() -> None:
    chapter.say("check")
    chapter.quiz()


chapter.show()
