"""Chapter 4.  The whole server: requests, lengths, batch and speeds in; latency and throughput out.

The reader guesses what a larger batch does, sees why TTFT and ITL go opposite ways, then has every
knob of the server, finds how much load it bears and for whom, sees that a benchmark's loop decides
what it measures, and brings real traffic.
"""

from typing import Any, NamedTuple

from sim import metrics, scheduler, specs, workload
from sim.cost import KERNELS_PER_LAYER, LAUNCH_MICROSECONDS, Clock, Eager, Roofline, SimpleClock
from sim.engine import Setup, Speculation, Users
from sim.kv import Paged
from sim.sweep import knee
from ui import compare, curves, lesson, notes, pictures, predict, runs, traces
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

TRAFFIC = tr("流量", "Traffic")  # a group of settings that is no other chapter's
VARIATIONS = (0.2, 0.5, 1, 2, 4, 8, 13)  # of the gaps between arrivals
GIANTS = (0, 8_000, 16_000, 32_000, 64_000, 100_000)
USERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
THINKING = (0, 1, 2, 5, 10, 30)
PREFIXES = (0, 100, 200, 500, 1000, 2000, 4000)
PREFIX_GROUPS = (1, 2, 4, 8, 16, 64)
PREFILLS = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
DECODES = (5, 10, 20, 30, 50, 100)
BUDGETS = (256, 512, 1024, 2048, 4096, 8192, 16_384)
WHOLE_PROMPTS = 10_000_000  # the budget without chunks: vLLM wants at least the model length
SPEEDS = "speeds"  # in place of a GPU: two numbers
KV_TOKENS = (4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000)
MEMORY_SHARES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
BLOCK_SIZES = (1, 8, 16, 32, 64, 128)
REACHED = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)  # shares of the data sheet
FIXED_SECONDS = (0, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.01)
KERNELS = (5, 8, 10, 12, 15, 20, 30, 40)  # of a layer
LAUNCHES = (2, 5, 10, 15, 20, 30, 50)  # microseconds for a kernel
PROPOSALS = (1, 2, 3, 4, 6, 8)
ACCEPTANCES = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
DRAFT_COSTS = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
TTFT_LIMITS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5)
TPOT_LIMITS = (0.012, 0.015, 0.02, 0.025, 0.03, 0.05, 0.1)
PRESETS: dict[str, dict[str, object]] = {
    "preset_chat": {"rate": 6, "prompt": 1000, "output": 200},
    "preset_code": {"rate": 2, "prompt": 2000, "output": 50, "arrival": "gamma", "cv": 4},
    "preset_documents": {"rate": 0.5, "prompt": 8000, "output": 400, "requests": 60},
    "preset_overload": {"rate": 20, "seqs": 32},
    "preset_kv": {
        "gpu": "RTX 4090",
        "requests": 36,
        "rate": 30,
        "prompt": 1000,
        "output": 1200,
        "seqs": 256,
    },
    "preset_giant": {"rate": 6, "prompt": 200, "giant": 100_000, "requests": 60},
}
QUEUEING = 0.5  # of the mean TTFT: from here on the queue is said to grow
LOOP_OUTPUTS = (50, 100, 200, 400, 800, 1200)
LOOP_PROMPT, LOOP_SPREAD, LOOP_REQUESTS, LOOP_SEQS = 2000, 4, 240, 64

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

    trends = {
        "ttft": tr("首 token 延迟 TTFT", "TTFT"),
        "itl": tr("token 间隔 ITL", "ITL"),
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
        predict.Trends(trends, truth),
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


class Server(NamedTuple):
    """All of a setup but its traffic; which lines say how far to trust it."""

    policy: scheduler.Policy
    memory: Paged
    clock: Clock
    schedule: str
    machine: str
    memory_share: float | None  # of the GPU's memory; None where the pool is stated
    speculation: Speculation | None = None

    def serving(self, requests: tuple[Any, ...], users: Users | None = None) -> Setup:
        return Setup(
            requests,
            self.policy,
            self.memory,
            self.clock,
            users=users,
            speculation=self.speculation,
        )


@chapter.act("explore", tr("整台服务器", "The whole server"))
def explore() -> None:
    chapter.say("explore")
    chapter.front(
        *("rate", "users", "prompt", "output", "seqs"), live=["rate", "users", "output", "seqs"]
    )
    setup, server = choose_run()
    kept = chapter.kept_as_a(choose_run)
    chapter.presets(PRESETS)
    summary = runs.summary(setup)
    if summary.num_served:
        draw_run(setup, server, kept and kept[0])
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
            hits=percent(summary.prefix_hit_rate),
        )
        say_rejected(setup)
    else:
        chapter.problem(chapter.words("nothing_served"))
    chapter.take_along(setup, server.memory_share)
    chapter.flags()


@chapter.act("curve", tr("能扛多少", "How much it bears"))
def curve() -> None:
    chapter.say("curve")
    chapter.front("rate", "seqs", "slo_ttft", "slo_tpot", live=["rate"])
    server = choose_server()
    rate = choose_rate()
    at_rate = choose_requests(all_at_once=False)
    ttft_limit = chapter.pick(
        "slo_ttft", tr("TTFT 不超过", "TTFT at most"), TTFT_LIMITS, start=0.2, unit="s"
    )
    tpot_limit = chapter.pick(
        "slo_tpot", tr("TPOT 不超过", "TPOT at most"), TPOT_LIMITS, start=0.02, unit="s"
    )
    setups = {load: server.serving(at_rate(load)) for load in RATES}
    progress = chapter.progress(tr("每个到达率各跑一遍…", "One run per arrival rate…"))
    points = runs.sweep(setups, progress)
    goods = {load: runs.goodput(setups[load], ttft_limit, tpot_limit) for load in RATES}
    bend, good, here = knee(points), goods[rate], runs.summary(setups[rate])
    if not here.num_served:
        chapter.problem(chapter.words("nothing_served"))
        return
    best = max(RATES, key=lambda load: goods[load].requests_per_second)

    chapter.cards(
        [
            Card(
                tr("按时做完", "Served in time"),
                percent(good.share),
                tr(f"共 {count(here.num_served)} 个", f"of {count(here.num_served)}"),
            ),
            Card(
                tr("有效吞吐（请求/s）", "Goodput, requests/s"),
                significant(good.requests_per_second),
                tr(
                    f"吞吐 {significant(here.requests_per_second)}",
                    f"throughput {significant(here.requests_per_second)}",
                ),
            ),
            Card(
                tr("TTFT 均值", "TTFT, mean"),
                seconds(here.ttft.mean),
                f"p99 {seconds(here.ttft.p99)}",
            ),
            Card(
                tr("TPOT 均值", "TPOT, mean"),
                seconds(here.tpot.mean),
                f"p99 {seconds(here.tpot.p99)}",
            ),
        ]
    )
    chapter.draw(
        curves.load_curve(points, rate, bend, large=chapter.large),
        "load_curve",
        alt=tr(
            "平均 TTFT 随吞吐的变化，每个到达率一个点，标出本次运行和拐点",
            "Mean TTFT against throughput, a point per arrival rate; this run and the knee marked",
        ),
        opens="rate",
    )
    chapter.draw(
        curves.goodput_curve(points, list(goods.values()), rate, large=chapter.large),
        "goodput",
        alt=tr(
            "每秒做完和按时做完的请求数，随到达率的变化",
            "Requests served and served in time per second, against the arrival rate",
        ),
        opens="rate",
    )
    chapter.leaves_out(
        "curve_leaves_out",
        server=chapter.words("leaves_out", **trust(server.machine, server.schedule)),
        requests=count(len(setups[rate].requests)),
        last_arrival=seconds(setups[rate].requests[-1].arrival_seconds),
        duration=seconds(here.duration_seconds),
        throughput=significant(here.requests_per_second),
        rate=plain(rate),
    )
    say_rounds(setups[rate])
    if bend:
        chapter.say(
            "curve_knee",
            knee=plain(bend.value),
            ttft=seconds(bend.summary.ttft.mean),
            idle=seconds(points[0].summary.ttft.mean),
            throughput=count(bend.summary.output_tokens_per_second),
        )
    else:
        chapter.say("curve_no_knee", most=plain(RATES[-1]))
    chapter.say(
        "curve_result",
        rate=plain(rate),
        share=percent(good.share),
        ttft_limit=seconds(ttft_limit),
        tpot_limit=seconds(tpot_limit),
        goodput=significant(good.requests_per_second),
        throughput=significant(here.requests_per_second),
    )
    say_how_goodput_ends(best, goods[best], goods[RATES[-1]], points[-1].summary)
    chapter.take_along(setups[rate], server.memory_share)


def say_how_goodput_ends(
    best: float, most: metrics.Goodput, last: metrics.Goodput, overload: metrics.Summary
) -> None:
    """Whether goodput falls before the last rate of the sweep, if there is any goodput at all."""
    if not most.num_requests:
        chapter.say("goodput_none")
        return
    falls = predict.trend(most.requests_per_second, last.requests_per_second) == "down"
    numbers: dict[str, Any] = {
        "last": plain(RATES[-1]),
        "last_goodput": significant(last.requests_per_second),
        "throughput": significant(overload.requests_per_second),
    }
    if falls:
        best_goodput = significant(most.requests_per_second)
        chapter.say("goodput_falls", best=plain(best), best_goodput=best_goodput, **numbers)
    else:
        chapter.say("goodput_holds", **numbers)


@chapter.act("loops", tr("开环与闭环", "Open and closed loop"))
def loops() -> None:
    chapter.say("loops")
    label = tr("输出均长", "Output tokens")
    output = chapter.pick("loop_output", label, LOOP_OUTPUTS, start=50, live=True)
    label = tr("开环：每秒到达", "Open: arrivals per s")
    rate = chapter.pick("loop_rate", label, (1, 2, 3, 4, 5, 6), start=4)
    label = tr("闭环：用户数", "Closed: users")
    users = Users(int(chapter.pick("loop_users", label, (4, 8, 16, 32, 64), start=32)))
    server = Server(
        scheduler.Chunked(LOOP_SEQS), HOOK_MEMORY, HOOK_CLOCK, "as_vllm", "uncalibrated", None
    )
    asked = {
        length: runs.requests(
            workload.Workload(
                LOOP_REQUESTS,
                workload.PoissonArrivals(rate),
                workload.LognormalLength.with_spread(LOOP_PROMPT, LOOP_SPREAD),
                workload.LognormalLength.with_spread(length, LOOP_SPREAD),
            )
        )
        for length in LOOP_OUTPUTS
    }
    opened = {length: runs.summary(server.serving(asked[length])) for length in LOOP_OUTPUTS}
    closed = {length: runs.summary(server.serving(asked[length], users)) for length in LOOP_OUTPUTS}

    chapter.cards(
        [
            Card(
                tr("开环 TTFT 中位数", "Open: median TTFT"),
                seconds(opened[output].ttft.p50),
                tr(
                    f"每秒来 {plain(rate)} 个，定死",
                    f"{plain(rate)} arrivals/s, whatever happens",
                ),
            ),
            Card(
                tr("闭环 TTFT 中位数", "Closed: median TTFT"),
                seconds(closed[output].ttft.p50),
                tr(
                    f"每秒来 {significant(closed[output].requests_per_second)} 个，随服务器",
                    f"{significant(closed[output].requests_per_second)} arrivals/s, "
                    "as the server allows",
                ),
            ),
        ]
    )
    chapter.draw(
        curves.two_loops(
            LOOP_OUTPUTS,
            list(opened.values()),
            list(closed.values()),
            int(output),
            large=chapter.large,
        ),
        "two_loops",
        alt=tr(
            "TTFT 中位数随输出长度的变化：开环一条线，闭环一条线",
            "Median TTFT against output length: one line for the open, one for the closed loop",
        ),
    )
    say_what_is_left_out(server.machine, server.schedule)
    short, long = LOOP_OUTPUTS[0], LOOP_OUTPUTS[-1]
    chapter.say(
        "loops_result",
        short=plain(short),
        long=count(long),
        users=plain(users.num_users),
        rate=plain(rate),
        open_short=seconds(opened[short].ttft.p50),
        open_long=seconds(opened[long].ttft.p50),
        closed_short=seconds(closed[short].ttft.p50),
        closed_long=seconds(closed[long].ttft.p50),
    )
    chapter.say(
        "loops_open_queues" if opened[long].queue_share > QUEUEING else "loops_open_keeps_up",
        rate=plain(rate),
        long=count(long),
        queue_share=percent(opened[long].queue_share),
    )
    chapter.say(
        "loops_closed",
        asked_short=significant(closed[short].requests_per_second),
        asked_long=significant(closed[long].requests_per_second),
    )
    chapter.say("loops_benchmarks")


@chapter.act("trace", tr("真实流量", "Real traffic"))
def trace() -> None:
    chapter.say("trace")
    label = tr("CSV 或 JSONL，至多 10 MB", "CSV or JSONL, 10 MB at most")
    uploaded = chapter.upload("file", label, ["csv", "jsonl"])
    chapter.front("seqs", "gpu")
    speed = chapter.pick(
        "speed", tr("播放倍速", "Speed of arrivals"), (0.5, 1, 2, 4, 8), start=1, unit="×"
    )
    server = choose_server()
    with chapter.waiting(tr("正在读文件…", "Reading the file…")):
        read, problem = traces.read(uploaded)
    chapter.problem(problem, "trace_failed")
    chapter.problem(traces.cut(read))
    requests = workload.scaled(read.requests if read else STAND_IN, speed)
    setup, num_requests = server.serving(requests), count(len(requests))
    with chapter.waiting(
        tr(f"正在模拟 {num_requests} 个请求…", f"Simulating; requests: {num_requests}…")
    ):
        summary = runs.summary(setup)

    if not summary.num_served:
        chapter.problem(chapter.words("nothing_served"))
        return
    draw_run(setup, server)
    numbers: dict[str, Any] = {
        "used": num_requests,
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
    chapter.take_along(setup, server.memory_share)


@chapter.act("check", tr("自测", "Self-check"))
def check() -> None:
    chapter.say("check")
    chapter.quiz()


# -- the knobs ----------------------------------------------------------------------------------


def choose_run() -> tuple[Setup, Server]:
    """Every knob of the whole server."""
    loops = {"open": tr("开环", "open"), "closed": tr("闭环", "closed")}
    loop = chapter.choose("loop", tr("请求从哪来", "Loop"), loops, start="open", group=TRAFFIC)
    if loop == "closed":
        num_users = chapter.pick("users", tr("用户数", "Users"), USERS, start=16, group=TRAFFIC)
        label = tr("思考时间", "Think time")
        thinks = chapter.pick("think", label, THINKING, start=0, unit="s", group=TRAFFIC)
        users, rate = Users(int(num_users), thinks), RATES[0]
    else:
        users, rate = None, choose_rate()
    requests = choose_requests()(rate)
    server = choose_server()
    return server.serving(requests, users), server


def choose_rate() -> float:
    label = tr("每秒到达", "Arrivals per s")
    return chapter.pick("rate", label, RATES, start=8, group=TRAFFIC)


def choose_requests(all_at_once: bool = True) -> Any:
    """How many, how long, in what pattern: a function from the arrival rate to the requests."""
    prompt = chapter.pick(
        "prompt", tr("提示词均长", "Prompt tokens"), PROMPTS, start=500, group=TRAFFIC
    )
    output = chapter.pick(
        "output", tr("输出均长", "Output tokens"), OUTPUTS, start=200, group=TRAFFIC
    )
    num_requests = chapter.slide(
        "requests", tr("请求数", "Requests"), 1, 1000, start=240, group=TRAFFIC
    )
    label = tr("长度差异（p99 ÷ 均值）", "Length spread (p99 ÷ mean)")
    spread = chapter.slide("spread", label, 1.0, 12.0, start=4.0, step=0.5, group=TRAFFIC)
    names = {
        "poisson": tr("泊松", "Poisson"),
        "constant": tr("匀速", "constant"),
        "gamma": tr("伽马", "gamma"),
        "burst": tr("成批", "bursts"),
    } | ({"once": tr("同时", "at once")} if all_at_once else {})
    label = tr("到达方式", "Arrivals")
    arrival = chapter.choose("arrival", label, names, start="poisson", group=TRAFFIC)
    variation = 1.0
    if arrival == "gamma":
        label = tr("间隔的变异系数", "CV of the gaps")
        variation = chapter.pick("cv", label, VARIATIONS, start=4, group=TRAFFIC)
    label = tr("夹一个巨型提示词", "One giant prompt")
    giant = chapter.pick("giant", label, GIANTS, start=0, group=TRAFFIC)
    seed = chapter.number("seed", tr("随机种子", "Random seed"), 0, 9999, start=0, group=TRAFFIC)
    tokens = chapter.pick(
        "prefix", tr("共享前缀", "Shared prefix"), PREFIXES, start=0, group="08_prefix_cache"
    )
    prefix = None
    if tokens:
        label = tr("几种前缀", "Different prefixes")
        groups = chapter.pick("groups", label, PREFIX_GROUPS, start=1, group="08_prefix_cache")
        prefix = workload.SharedPrefix(int(tokens), int(groups))

    def at_rate(rate: float) -> Any:
        arrivals: dict[str, workload.Arrivals] = {
            "poisson": workload.PoissonArrivals(rate),
            "constant": workload.ConstantArrivals(rate),
            "gamma": workload.GammaArrivals(rate, variation),
            "burst": workload.BurstArrivals.at_rate(rate, BURST_SIZE),
            "once": workload.BurstArrivals(num_requests),
        }
        requests = runs.requests(
            workload.Workload(
                num_requests,
                arrivals[arrival],
                workload.LognormalLength.with_spread(prompt, spread),
                workload.LognormalLength.with_spread(output, spread),
                prefix=prefix,
                seed=seed,
            )
        )
        return workload.with_giant(requests, int(giant)) if giant else requests

    return at_rate


def choose_server() -> Server:
    """Policy, memory and machine.  A model that does not fit stops the run here."""
    policy, schedule = choose_policy()
    speculation = None if isinstance(policy, scheduler.Static) else choose_speculation()
    group = "02_prefill_decode"
    names = {name: name for name in specs.GPUS} | {SPEEDS: tr("直接给速度", "speeds, directly")}
    gpu_name = chapter.choose("gpu", "GPU", names, start="A100 80G SXM", group=group)
    if gpu_name == SPEEDS:
        label = tr("预填充 token/s", "Prefill tokens/s")
        prefill = chapter.pick("prefill", label, PREFILLS, start=10_000, group=group)
        label = tr("解码每步毫秒", "Decode ms per step")
        decode = chapter.pick("decode", label, DECODES, start=20, group=group)
        label = tr("KV 池（token）", "KV pool (tokens)")
        room = chapter.pick("pool", label, KV_TOKENS, start=64_000, group="06_kv_cache")
        block_size, caching = choose_blocks()
        memory = Paged.for_tokens(int(room), block_size, caching)
        clock = SimpleClock.of_milliseconds(prefill, decode)
        return Server(policy, memory, clock, schedule, "simple_clock", None, speculation)
    names = {name: name for name in specs.MODELS}
    name = chapter.choose("model", tr("模型", "Model"), names, start="Llama-3.1-8B", group=group)
    efficiency = choose_efficiency()
    label = tr("KV 与权重可用的显存", "Share of GPU memory")
    share = chapter.pick("share", label, MEMORY_SHARES, start=0.9, group="06_kv_cache")
    block_size, caching = choose_blocks()
    formats = {code: code for code in specs.WEIGHT_FORMATS}
    weights = chapter.choose(
        "weights", tr("权重", "Weights"), formats, start="bf16", group="12_quantization"
    )
    formats = {"bf16": "bf16", "fp8": "fp8"}
    kv = chapter.choose("kv", "KV", formats, start="bf16", group="12_quantization")
    label = tr("张量并行", "Tensor parallel")
    degree = chapter.pick(
        "tp", label, specs.TENSOR_PARALLEL, start=1, unit="GPU", group="13_systems"
    )
    gpu, model = specs.GPUS[gpu_name], specs.MODELS[name].in_format(weights, kv)
    roofline = Roofline(model, gpu, efficiency, tensor_parallel=int(degree))
    memory = Paged.beside(
        model,
        gpu,
        block_size,
        caching,
        tensor_parallel=int(degree),
        memory_utilization=share,
    )
    launched = choose_launches(roofline)
    machine = "calibrated" if roofline.calibrated else "uncalibrated"
    if isinstance(launched, Eager):
        machine = "eager"
    return Server(policy, memory, launched, schedule, machine, share, speculation)


def choose_policy() -> tuple[scheduler.Policy, str]:
    """Who goes next (vLLM V1, or others for comparison), and which line says whose rules it has."""
    label = tr("批的上限", "Batch limit")
    seqs = int(chapter.pick("seqs", label, LIMITS, start=64, group="05_batching"))
    names = {
        "chunked": "vLLM V1",
        "continuous": tr("连续", "continuous"),
        "static": tr("静态", "static"),
    }
    label = tr("调度策略", "Scheduling policy")
    code = chapter.choose("policy", label, names, start="chunked", group="05_batching")
    if code == "continuous":
        return scheduler.Continuous(seqs), "as_defined"
    if code == "static":
        return scheduler.Static(seqs), "as_defined"
    group = "09_chunked_prefill"
    chunks = chapter.toggle("chunks", tr("分块预填充", "Chunked prefill"), start=True, group=group)
    if not chunks:
        return scheduler.Chunked(seqs, WHOLE_PROMPTS, chunked_prefill=False), "as_vllm"
    label = tr("每步 token 预算", "Token budget per step")
    budget = int(chapter.pick("budget", label, BUDGETS, start=2048, group=group))
    return scheduler.Chunked(seqs, budget), "as_vllm"


def choose_speculation() -> Speculation | None:
    """A draft model, by what it proposes, how often it is right and what it costs."""
    group = "10_spec_decode"
    label = tr("投机解码", "Speculative decoding")
    if not chapter.toggle("spec", label, group=group):
        return None
    most = chapter.pick("spec_k", tr("每轮提议", "Proposals"), PROPOSALS, start=4, group=group)
    label = tr("接受率", "Acceptance")
    share = chapter.pick("spec_a", label, ACCEPTANCES, start=0.7, group=group)
    label = tr("draft 一步的代价", "Cost of a draft step")
    cost = chapter.pick("spec_cost", label, DRAFT_COSTS, start=0.1, group=group)
    return Speculation(int(most), share, cost)


def choose_launches(roofline: Roofline) -> Clock:
    """A step as one graph, or launched kernel by kernel."""
    group = "11_cuda_graph"
    if chapter.toggle("graphs", tr("CUDA Graph", "CUDA graphs"), start=True, group=group):
        return roofline
    label = tr("每层 kernel", "Kernels per layer")
    kernels = chapter.pick("kernels", label, KERNELS, start=KERNELS_PER_LAYER, group=group)
    label = tr("启动一个 kernel", "Launch of a kernel")
    launch = chapter.pick(
        "launch", label, LAUNCHES, start=LAUNCH_MICROSECONDS, unit="µs", group=group
    )
    return Eager.of_microseconds(roofline, int(kernels), launch)


def choose_blocks() -> tuple[int, bool]:
    """Block size, and whether prefixes are cached."""
    label = tr("块大小", "Block size")
    size = chapter.pick(
        "block", label, BLOCK_SIZES, start=16, unit=tr("token", "tokens"), group="07_fragmentation"
    )
    label = tr("前缀缓存", "Prefix caching")
    return int(size), chapter.toggle("caching", label, start=True, group="08_prefix_cache")


def choose_efficiency() -> specs.Efficiency | None:
    """What share of the data sheet kernels reach; None for what the GPU's row says."""
    group = "02_prefill_decode"
    names = {"own": tr("按这块 GPU", "this GPU's"), "set": tr("自己设", "your own")}
    label = tr("效率", "Efficiencies")
    if chapter.choose("efficiency", label, names, start="own", group=group) == "own":
        return None
    bandwidth = chapter.pick(
        "bw", tr("达到的带宽", "Share of bandwidth"), REACHED, start=0.8, group=group
    )
    flops = chapter.pick(
        "flops", tr("达到的算力", "Share of FLOP/s"), REACHED, start=0.6, group=group
    )
    label = tr("每步固定开销", "Fixed per step")
    fixed = chapter.pick("fixed", label, FIXED_SECONDS, start=0.001, unit="s", group=group)
    return specs.Efficiency(bandwidth, flops, fixed)


# -- what a run shows -----------------------------------------------------------------------------


def draw_run(setup: Setup, server: Server, kept: Setup | None = None) -> None:
    """Everything a run of the whole server shows; first what can be compared with A."""
    draw_cards(setup, kept)
    if kept:
        draw_load(setup, kept)
        draw_timeline(setup)
    else:
        draw_timeline(setup)
        draw_load(setup)
    say_what_is_left_out(server.machine, server.schedule)
    say_rounds(setup)


def say_rounds(setup: Setup) -> None:
    """What speculation did, if it is on."""
    if setup.speculation:
        rounds = runs.run(setup).rounds
        chapter.leaves_out("spec_leaves_out")
        if not rounds.num_rounds:
            chapter.say("spec_none")
            return
        chapter.say(
            "spec_result",
            rounds=count(rounds.num_rounds),
            proposed=count(rounds.num_proposed),
            accepted=count(rounds.num_accepted),
            rate=percent(rounds.acceptance_rate),
            length=significant(rounds.tokens_per_round),
        )


def draw_cards(setup: Setup, kept: Setup | None = None) -> None:
    here = runs.summary(setup)
    a = runs.summary(kept) if kept else None
    chapter.cards(
        [
            Card(
                tr("TTFT 均值", "TTFT, mean"),
                seconds(here.ttft.mean),
                compare.against(here.ttft.mean, a.ttft.mean, seconds)
                if a
                else f"p99 {seconds(here.ttft.p99)}",
            ),
            Card(
                tr("ITL 均值", "ITL, mean"),
                seconds(here.itl.mean),
                compare.against(here.itl.mean, a.itl.mean, seconds)
                if a
                else f"p99 {seconds(here.itl.p99)} · max {seconds(here.itl.max)}",
            ),
            Card(
                tr("TPOT 均值", "TPOT, mean"),
                seconds(here.tpot.mean),
                compare.against(here.tpot.mean, a.tpot.mean, seconds)
                if a
                else f"p99 {seconds(here.tpot.p99)}",
            ),
            Card(
                tr("输出 token/s", "Output tokens/s"),
                count(here.output_tokens_per_second),
                compare.against(here.output_tokens_per_second, a.output_tokens_per_second, count)
                if a
                else tr(
                    f"平均 {significant(here.mean_running)} 个在跑",
                    f"{significant(here.mean_running)} running",
                ),
            ),
            Card(
                tr("KV 峰值", "KV, peak"),
                percent(here.peak_kv_usage),
                compare.against(here.peak_kv_usage, a.peak_kv_usage, percent)
                if a
                else tr(
                    f"抢占 {count(here.num_preemptions)} 次",
                    f"preemptions: {count(here.num_preemptions)}",
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


def draw_load(setup: Setup, kept: Setup | None = None) -> None:
    alt = tr("运行数、排队数与 KV 使用率随时间的变化", "Running, waiting and KV use over time")
    figure = pictures.load(runs.run(setup), runs.run(kept) if kept else None, large=chapter.large)
    chapter.draw(figure, "load", alt)


def say_what_is_left_out(machine: str, schedule: str) -> None:
    """How far to trust the figures: whose rules, which step times, and what is missing."""
    chapter.leaves_out("leaves_out", **trust(machine, schedule))


def trust(machine: str, schedule: str) -> dict[str, Any]:
    """The blanks of `leaves_out`."""
    return {"scheduling": chapter.words(schedule), "step_times": chapter.words(machine)}


def say_rejected(setup: Setup) -> None:
    rejected = runs.summary(setup).num_rejected
    if rejected:
        chapter.say("rejected", rejected=count(rejected))


chapter.show()
