"""Chapter 4.  The whole server: requests, lengths, batch and speeds in; latency and throughput out.

The reader guesses what a larger batch does, sees why TTFT and ITL go opposite ways, then has every
knob of the server, presets that show one phenomenon each, and real traffic from a file.
"""

from typing import Any

from sim import scheduler, specs, workload
from sim.cost import Clock, Roofline, SimpleClock
from sim.engine import Setup
from sim.kv import Paged
from ui import lesson, notes, pictures, predict, runs, traces
from ui.lesson import Card, tr
from ui.numbers import count, percent, plain, seconds, significant

LIMITS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
RATES = (0.5, 1, 2, 3, 4, 6, 8, 10, 12, 15, 20, 30, 40)
PROMPTS = (50, 100, 200, 500, 1000, 2000, 4000, 8000)
OUTPUTS = (1, 10, 50, 100, 200, 400, 600, 800, 1200)
BURST_SIZE = 20
FRONTIER = (4, 8, 16, 32, 64)
LOW, HIGH = 8, 64  # the two limits that the reader compares
HOOK_RATE = 10
HOOK_CLOCK = Roofline(specs.MODELS["Llama-3.1-8B"], specs.GPUS["A100 80G SXM"])
HOOK_MEMORY = Paged.beside(HOOK_CLOCK.model, HOOK_CLOCK.gpu)
HOOK_REQUESTS = workload.Workload(
    120,
    workload.PoissonArrivals(HOOK_RATE),
    workload.LognormalLength(500, 2000),
    workload.LognormalLength(200, 800),
).requests()
STAND_IN = workload.Workload(
    300,
    workload.PoissonArrivals(5.5),
    workload.LognormalLength(1155, 4142),
    workload.LognormalLength(211, 601),
).requests()
PREFILLS = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
DECODES = (5, 10, 20, 30, 50, 100)
BUDGETS = (256, 512, 1024, 2048, 4096, 8192, 16_384)
SPEEDS = "speeds"  # in place of a GPU: two numbers
KV_TOKENS = (4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000)
PRESETS: dict[str, dict[str, object]] = {
    "preset_light": {"rate": 1},
    "preset_busy": {"rate": 10, "seqs": 64},
    "preset_overload": {"rate": 20, "seqs": 32},
    "preset_long": {"output": 1200},
    "preset_kv": {
        "gpu": "RTX 4090",
        "requests": 36,
        "rate": 30,
        "prompt": 1000,
        "output": 1200,
        "seqs": 256,
    },
    "preset_burst": {"arrival": "burst"},
}

chapter = lesson.open(__file__)


@chapter.act("hook", tr("批多大", "Batch size"))
def hook() -> None:
    chapter.say("hook", rate=HOOK_RATE, model=HOOK_CLOCK.model.name, low=LOW)
    limits = {str(limit): str(limit) for limit in FRONTIER}
    seqs = int(chapter.choose("limit", tr("批的上限", "Batch limit"), limits, start=str(LOW)))
    setups = {
        limit: Setup(HOOK_REQUESTS, scheduler.Chunked(limit), HOOK_MEMORY, HOOK_CLOCK)
        for limit in FRONTIER
    }
    points = {limit: runs.summary(setup) for limit, setup in setups.items()}
    here, low, high = points[seqs], points[LOW], points[HIGH]

    metrics = {
        "ttft": tr("首字延迟 TTFT", "TTFT"),
        "itl": tr("逐字延迟 ITL", "ITL"),
        "throughput": tr("输出 token/s", "Output tokens/s"),
    }
    truth = {
        "ttft": predict.trend(low.ttft.mean, high.ttft.mean),
        "itl": predict.trend(low.itl.mean, high.itl.mean),
        "throughput": predict.trend(low.output_tokens_per_second, high.output_tokens_per_second),
    }
    guess = chapter.predict(
        "batch",
        chapter.words("hook_question", low=LOW, high=HIGH),
        predict.Trends(metrics, truth),
        outcome=chapter.words(
            "hook_outcome",
            low=LOW,
            high=HIGH,
            ttft_8=seconds(low.ttft.mean),
            ttft_64=seconds(high.ttft.mean),
            itl_8=seconds(low.itl.mean),
            itl_64=seconds(high.itl.mean),
            throughput_8=count(low.output_tokens_per_second),
            throughput_64=count(high.output_tokens_per_second),
        ),
    )
    draw_cards(setups[seqs])
    draw_timeline(setups[seqs])
    say_what_is_left_out("uncalibrated", "as_vllm")
    chapter.say(
        "hook_result",
        after=guess,
        seqs=seqs,
        ttft=seconds(here.ttft.mean),
        queue=seconds(here.queue_time.mean),
        itl=seconds(here.itl.mean),
        throughput=count(here.output_tokens_per_second),
        running=significant(here.mean_running),
    )
    chapter.say("frontier", hidden_by=guess)
    chapter.draw(
        pictures.frontier(points, seqs, large=chapter.large),
        "frontier",
        alt=tr(
            "每个批上限一个点：吞吐与平均 ITL", "One point per batch limit: throughput and mean ITL"
        ),
        after=guess,
    )
    chapter.explain(
        "hook_formula",
        floor=seconds(HOOK_CLOCK.decode_floor_seconds),
        itl_p50=seconds(here.itl.p50),
    )


@chapter.act("explore", tr("整台服务器", "The whole server"))
def explore() -> None:
    chapter.say("explore")
    num_requests = chapter.slide(
        "requests", tr("请求数", "Requests"), 1, 400, start=120, advanced=chapter.large
    )
    rate = chapter.pick("rate", tr("每秒到达", "Arrivals per s"), RATES, start=8, live=True)
    prompt = chapter.pick("prompt", tr("提示词均长", "Prompt tokens"), PROMPTS, start=500)
    output = chapter.pick("output", tr("输出均长", "Output tokens"), OUTPUTS, start=200, live=True)
    policy, schedule = choose_policy()
    label = tr("长度差异（p99 ÷ 均值）", "Length spread (p99 ÷ mean)")
    spread = chapter.slide("spread", label, 1.0, 12.0, start=4.0, step=0.5, advanced=True)
    arrivals: dict[str, workload.Arrivals] = {
        "poisson": workload.PoissonArrivals(rate),
        "constant": workload.ConstantArrivals(rate),
        "burst": workload.BurstArrivals.at_rate(rate, BURST_SIZE),
        "once": workload.BurstArrivals(num_requests),
    }
    names = {
        "poisson": tr("泊松", "Poisson"),
        "constant": tr("匀速", "constant"),
        "burst": tr("突发", "bursts"),
        "once": tr("同时", "at once"),
    }
    arrival = chapter.choose("arrival", tr("到达方式", "Arrivals"), names, "poisson", advanced=True)
    seed = chapter.number("seed", tr("随机种子", "Random seed"), 0, 9999, start=0, advanced=True)
    requests = workload.Workload(
        num_requests,
        arrivals[arrival],
        workload.LognormalLength.with_spread(prompt, spread),
        workload.LognormalLength.with_spread(output, spread),
        seed=seed,
    ).requests()
    chapter.presets(PRESETS)
    clock, memory, honesty = choose_machine()
    setup = Setup(requests, policy, memory, clock)
    summary = runs.summary(setup)

    draw_run(setup, honesty, schedule)
    chapter.say(
        "explore_result",
        served=count(summary.num_served),
        duration=seconds(summary.duration_seconds),
        throughput=count(summary.output_tokens_per_second),
        ttft=seconds(summary.ttft.mean),
        queue_share=percent(summary.queue_share),
        ttft_p99=seconds(summary.ttft.p99),
        kv=percent(summary.peak_kv_usage),
        preemptions=count(summary.num_preemptions),
    )
    say_rejected(setup)
    chapter.flags()


@chapter.act("trace", tr("真实流量", "Real traffic"))
def trace() -> None:
    chapter.say("trace")
    label = tr("CSV 或 JSONL，至多 10 MB", "CSV or JSONL, 10 MB at most")
    uploaded = chapter.upload("file", label, ["csv", "jsonl"])
    speed = chapter.pick(
        "speed", tr("播放倍速", "Speed of arrivals"), (0.5, 1, 2, 4, 8), start=1, unit="×"
    )
    policy, schedule = choose_policy()
    clock, memory, honesty = choose_machine()
    read, problem = traces.read(uploaded)
    chapter.problem(problem, "trace_failed")
    requests = workload.scaled(read.requests if read else STAND_IN, speed)
    setup = Setup(requests, policy, memory, clock)
    summary = runs.summary(setup)

    draw_run(setup, honesty, schedule)
    numbers: dict[str, Any] = {
        "used": count(len(requests)),
        "speed": plain(speed),
        "ttft": seconds(summary.ttft.mean),
        "ttft_p99": seconds(summary.ttft.p99),
        "itl": seconds(summary.itl.p50),
        "itl_p99": seconds(summary.itl.p99),
        "throughput": count(summary.output_tokens_per_second),
        "kv": percent(summary.peak_kv_usage),
    }
    if read:
        file_format = notes.trace_format(read.format)
        chapter.say("trace_result", format=file_format, rows=count(read.num_rows), **numbers)
    else:
        chapter.say("trace_none", **numbers)
    if read and read.num_skipped:
        chapter.say("trace_skipped", skipped=count(read.num_skipped))
    say_rejected(setup)


@chapter.act("check", tr("自测", "Self-check"))
def check() -> None:
    chapter.say("check")
    chapter.quiz()


def choose_machine() -> tuple[Clock, Paged, str]:
    """How fast the server is, how much KV it holds, and which line says how far to trust it.

    The last control of an act: a model that does not fit stops the run here.
    """
    names = {name: name for name in specs.GPUS} | {SPEEDS: tr("直接给速度", "speeds, directly")}
    gpu_name = chapter.choose("gpu", "GPU", names, start="A100 80G SXM", advanced=chapter.large)
    if gpu_name == SPEEDS:
        label = tr("预填充 token/s", "Prefill tokens/s")
        prefill = chapter.pick("prefill", label, PREFILLS, start=10_000)
        decode = chapter.pick("decode", tr("解码每步毫秒", "Decode ms per step"), DECODES, start=20)
        label = tr("KV 池（token）", "KV pool (tokens)")
        room = chapter.pick("pool", label, KV_TOKENS, start=64_000, advanced=True)
        return SimpleClock.of_milliseconds(prefill, decode), Paged.for_tokens(room), "simple_clock"
    models = {name: name for name in specs.MODELS}
    model_name = chapter.choose(
        "model", tr("模型", "Model"), models, start="Llama-3.1-8B", advanced=chapter.large
    )
    gpu, model = specs.GPUS[gpu_name], specs.MODELS[model_name]
    honesty = "calibrated" if gpu.efficiency.calibrated else "uncalibrated"
    return Roofline(model, gpu), Paged.beside(model, gpu), honesty


def choose_policy() -> tuple[scheduler.Policy, str]:
    """Who goes next (vLLM V1, or others for comparison), and which line says whose rules it has."""
    seqs = chapter.pick("seqs", tr("批的上限", "Batch limit"), LIMITS, start=64, live=True)
    budget = chapter.pick(
        "budget", tr("每步 token 预算", "Token budget per step"), BUDGETS, start=2048, advanced=True
    )
    policies: dict[str, scheduler.Policy] = {
        "chunked": scheduler.Chunked(seqs, budget),
        "continuous": scheduler.Continuous(seqs),
        "static": scheduler.Static(seqs),
    }
    names = {
        "chunked": "vLLM V1",
        "continuous": tr("连续", "continuous"),
        "static": tr("静态", "static"),
    }
    label = tr("调度策略", "Scheduling policy")
    code = chapter.choose("policy", label, names, "chunked", advanced=True)
    return policies[code], "as_vllm" if code == "chunked" else "as_defined"


def draw_run(setup: Setup, machine: str, schedule: str) -> None:
    """Everything a run of the whole server shows."""
    draw_cards(setup)
    draw_timeline(setup)
    draw_load(setup)
    say_what_is_left_out(machine, schedule)


def draw_cards(setup: Setup) -> None:
    summary = runs.summary(setup)
    chapter.cards(
        [
            Card(
                tr("TTFT 均值", "TTFT, mean"),
                seconds(summary.ttft.mean),
                f"p99 {seconds(summary.ttft.p99)}",
            ),
            Card(
                tr("ITL 均值", "ITL, mean"),
                seconds(summary.itl.mean),
                f"p99 {seconds(summary.itl.p99)} · max {seconds(summary.itl.max)}",
            ),
            Card(
                tr("TPOT 均值", "TPOT, mean"),
                seconds(summary.tpot.mean),
                f"p99 {seconds(summary.tpot.p99)}",
            ),
            Card(
                tr("输出 token/s", "Output tokens/s"),
                count(summary.output_tokens_per_second),
                tr(
                    f"平均 {significant(summary.mean_running)} 个在跑",
                    f"{significant(summary.mean_running)} running",
                ),
            ),
            Card(
                tr("KV 峰值", "KV, peak"),
                percent(summary.peak_kv_usage),
                tr(
                    f"抢占 {count(summary.num_preemptions)} 次",
                    f"{count(summary.num_preemptions)} preemptions",
                ),
            ),
        ]
    )


def draw_timeline(setup: Setup) -> None:
    alt = tr(
        "前几十个请求的排队、预填充、解码与抢占",
        "Queue, prefill, decode and preemption of the first requests",
    )
    chapter.draw(pictures.timeline(runs.run(setup), large=chapter.large), "timeline", alt)


def draw_load(setup: Setup) -> None:
    alt = tr("运行数、排队数与 KV 使用率随时间的变化", "Running, waiting and KV use over time")
    chapter.draw(pictures.load(runs.run(setup), large=chapter.large), "load", alt)


def say_what_is_left_out(machine: str, schedule: str) -> None:
    """How far to trust the figures: whose rules, which step times, and what is missing."""
    chapter.leaves_out(
        "leaves_out", scheduling=chapter.words(schedule), step_times=chapter.words(machine)
    )


def say_rejected(setup: Setup) -> None:
    rejected = runs.summary(setup).num_rejected
    if rejected:
        chapter.say("rejected", rejected=count(rejected))


chapter.show()
