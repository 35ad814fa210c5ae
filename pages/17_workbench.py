"""The workbench.  The whole server with every knob, for what the chapters before have explained.

The reader turns every knob of one server, finds how much load it bears and for whom, sees that a
benchmark's loop decides what it measures, and brings real traffic.
"""

from typing import Any

from sim import metrics, scheduler, specs, workload
from sim.cost import Roofline
from sim.engine import Setup, Users
from sim.engine.server import Server
from sim.kv import Paged
from sim.studies import sweep
from sim.workload.traces import Trace
from ui import lesson
from ui.controls import traces
from ui.controls.server_knobs import choose_server, whose_rules, whose_times
from ui.controls.traffic import Traffic
from ui.controls.traffic_knobs import RATES, choose_rate, choose_traffic, choose_users
from ui.lesson import Card, tr
from ui.practice import predict
from ui.results import curves, run_cards, run_pictures, runs
from ui.subjects.prefix import pictures as prefix_pictures
from ui.words import notes
from ui.words.numbers import count, percent, plain, seconds, significant

CLOCK = Roofline(specs.MODELS["Llama-3.1-8B"], specs.GPUS["A100 80G SXM"])
MEMORY = Paged.beside(CLOCK.model, CLOCK.gpu)
STAND_IN = workload.Workload(
    300,
    workload.PoissonArrivals(5.5),
    workload.LognormalLength(1155, 4142),
    workload.LognormalLength(211, 601),
).requests()

CACHES = (65_536, 262_144, 1_048_576, 4_194_304, 16_777_216)  # tokens
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
LOOP_TRAFFIC = Traffic(240, prompt_tokens=2000, output_tokens=LOOP_OUTPUTS[0], spread=4)
LOOP_SEQS = 64

chapter = lesson.open(__file__)


def choose_run() -> tuple[Setup, Server]:
    """Every knob of the whole server, and of what is sent to it."""
    users = choose_users(chapter)
    rate = RATES[0] if users else choose_rate(chapter)
    requests = choose_traffic(chapter).at(rate)
    server = choose_server(chapter)
    return server.serving(requests, users), server


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
    chapter.take_along(setup, server.memory_utilization)
    chapter.flags()


@chapter.act("curve", tr("能扛多少", "How much it takes"))
def curve() -> None:
    chapter.say("curve")
    chapter.front("rate", "seqs", "slo_ttft", "slo_tpot", live=["rate"])
    server = choose_server(chapter)
    rate = choose_rate(chapter)
    traffic = choose_traffic(chapter, all_at_once=False)
    ttft_limit = chapter.pick(
        "slo_ttft", tr("TTFT 不超过", "TTFT at most"), TTFT_LIMITS, start=0.2, unit="s"
    )
    tpot_limit = chapter.pick(
        "slo_tpot", tr("TPOT 不超过", "TPOT at most"), TPOT_LIMITS, start=0.02, unit="s"
    )
    setups = server.serving_each(traffic.at_each(RATES))
    progress = chapter.progress(tr("每个到达率各跑一遍…", "One run per arrival rate…"))
    points = runs.sweep(setups, progress)
    goods = runs.goodputs(setups, ttft_limit, tpot_limit)
    bend, good, here = sweep.knee(points), goods[rate], runs.summary(setups[rate])
    if not here.num_served:
        chapter.problem(chapter.words("nothing_served"))
        return

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
        server=chapter.words("leaves_out", **trust(server)),
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
        "curve_little",
        rate=plain(rate),
        stay=seconds(sweep.stay(here)),
        inside=significant(sweep.num_inside(rate, here)),
        slots=server.policy.max_num_seqs,
    )
    chapter.say(
        "curve_result",
        rate=plain(rate),
        share=percent(good.share),
        ttft_limit=seconds(ttft_limit),
        tpot_limit=seconds(tpot_limit),
        goodput=significant(good.requests_per_second),
        throughput=significant(here.requests_per_second),
    )
    best = sweep.most_goodput(goods)
    say_how_goodput_ends(best, goods[best], goods[RATES[-1]], points[-1].summary)
    chapter.take_along(setups[rate], server.memory_utilization)


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
    server = Server(scheduler.Chunked(LOOP_SEQS), MEMORY, CLOCK)
    asked = LOOP_TRAFFIC.with_each_output(LOOP_OUTPUTS, rate)
    opened = runs.summaries(server.serving_each(asked))
    closed = runs.summaries(server.serving_each(asked, users))

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
    chapter.leaves_out("leaves_out", **trust(server))
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
    label = tr("CSV、JSONL 或 JSON，至多 10 MB", "CSV, JSONL or JSON, 10 MB at most")
    uploaded = chapter.upload("file", label, ["csv", "jsonl", "json", "txt"])
    chapter.front("seqs", "gpu")
    speed = chapter.pick(
        "speed", tr("播放倍速", "Speed of arrivals"), (0.5, 1, 2, 4, 8), start=1, unit="×"
    )
    server = choose_server(chapter)
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
    if read and read.block_tokens:
        draw_prefixes(read, setup, server)
    say_rejected(setup)
    chapter.take_along(setup, server.memory_utilization)


def draw_prefixes(read: Trace, setup: Setup, server: Server) -> None:
    """What a prefix cache could find in a trace that tells what its prompts have in common."""
    requests, block = traces.in_blocks(read), read.block_tokens or 1
    rates = runs.hit_rates_of(requests, block, CACHES)
    (limit,) = runs.hit_rates_of(requests, block, (None,))
    pools = {tr("这台服务器", "this server"): server.kv_tokens}
    chapter.draw(
        prefix_pictures.hit_curve(
            CACHES, rates, limit, None, pools, chapter.large, tr("这份流量", "this trace")
        ),
        "prefixes",
        alt=tr(
            "横轴是缓存能装多少 token，纵轴是这份流量的命中率；另一条是 Mooncake 的实测",
            "Hit rate of this trace along the size of the cache; and Mooncake's",
        ),
    )
    chapter.say(
        "trace_prefixes",
        block=block,
        requests=count(len(requests)),
        limit=percent(limit),
        hits=percent(runs.summary(setup).prefix_hit_rate),
    )
    chapter.leads({tr("缓存要多大", "How large a cache must be"): "08_prefix_cache"})


# -- what a run shows -----------------------------------------------------------------------------


def draw_run(setup: Setup, server: Server, kept: Setup | None = None) -> None:
    """Everything a run of the whole server shows; first what can be compared with A."""
    chapter.cards(run_cards.of(setup, kept))
    if kept:
        draw_load(setup, kept)
        draw_timeline(setup)
    else:
        draw_timeline(setup)
        draw_load(setup)
    chapter.leaves_out("leaves_out", **trust(server))
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
            rate=percent(rounds.accepted_share),
            length=significant(rounds.tokens_per_round),
        )


def draw_timeline(setup: Setup) -> None:
    alt = tr(
        "前几十个请求的排队、预填充、解码与抢占",
        "Queue, prefill, decode and preemption of the first requests",
    )
    chapter.draw(run_pictures.timeline(runs.run(setup), large=chapter.large), "timeline", alt)


def draw_load(setup: Setup, kept: Setup | None = None) -> None:
    alt = tr("运行数、排队数与 KV 使用率随时间的变化", "Running, waiting and KV usage over time")
    figure = run_pictures.load(
        runs.run(setup), runs.run(kept) if kept else None, large=chapter.large
    )
    chapter.draw(figure, "load", alt)


def trust(server: Server) -> dict[str, Any]:
    """The blanks of `leaves_out`: how far to trust the figures; whose rules, which step times."""
    return {
        "scheduling": chapter.words(whose_rules(server)),
        "step_times": chapter.words(whose_times(server)),
    }


def say_rejected(setup: Setup) -> None:
    rejected = runs.summary(setup).num_rejected
    if rejected:
        chapter.say("rejected", rejected=count(rejected))


chapter.show()
