"""Chapter 4.  A serving system in a few numbers: requests in, latency and throughput out.

The reader guesses what a larger batch does, sees why TTFT and ITL go opposite ways, then has the
whole system in hand: how many requests, how long, how large a batch, how fast a machine.  Every
other knob waits on the workbench.
"""

from typing import Any

from sim import scheduler, specs, workload
from sim.cost import Roofline, SimpleClock
from sim.engine import Setup
from sim.engine.server import Server
from sim.kv import Paged, sizes
from sim.studies import sweep
from ui import lesson
from ui.controls.server_knobs import whose_rules, whose_times
from ui.lesson import tr
from ui.practice import predict
from ui.results import run_cards, run_pictures, runs
from ui.subjects.batching import frames
from ui.words.numbers import count, memory, percent, seconds, significant

FRONTIER = (4, 8, 16, 32, 64)
LOW, HIGH = 8, 64  # the two limits that the reader compares
HOOK_RATE = 10
MOSTLY = 0.9  # the share of TTFT that is queueing from which the server is overloaded
HOOK_CLOCK = Roofline(specs.MODELS["Llama-3.1-8B"], specs.GPUS["A100 80G SXM"])
HOOK_MEMORY = Paged.beside(HOOK_CLOCK.model, HOOK_CLOCK.gpu)
HOOK_TRAFFIC = workload.Workload(
    120,
    workload.PoissonArrivals(HOOK_RATE),
    workload.LognormalLength(500, 2000),
    workload.LognormalLength(200, 800),
)
HOOK_REQUESTS = HOOK_TRAFFIC.requests()
MODEL = HOOK_CLOCK.model
POOL_TOKENS = 32_768
WIDEST = 24  # the largest limit of the batch, and the most requests
ALL_AT_ONCE = workload.BurstArrivals(size=WIDEST)
BENCH = "17_workbench"

chapter = lesson.open(__file__)
chapter.moved_to(BENCH, "explore", "curve", "loops", "trace")


@chapter.act("hook", tr("批多大", "Batch size"))
def hook() -> None:
    chapter.say("hook", rate=HOOK_RATE, model=HOOK_CLOCK.model.name, low=LOW)
    seqs = int(chapter.choose("limit", tr("批的上限", "Batch limit"), FRONTIER, start=str(LOW)))
    server = Server(scheduler.Chunked(seqs), HOOK_MEMORY, HOOK_CLOCK)
    setup = server.serving(HOOK_REQUESTS)
    points = runs.summaries(sweep.setups(setup, sweep.field("policy.max_num_seqs"), FRONTIER))
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
    chapter.cards(run_cards.of(setup))
    draw_timeline(setup)
    chapter.leaves_out("leaves_out", **trust(server))
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
    if here.queue_share > MOSTLY:
        chapter.say("hook_overload", after=guess, seqs=seqs, requests=count(len(HOOK_REQUESTS)))
    chapter.say("frontier", hidden_by=guess)
    chapter.draw(
        run_pictures.frontier(points, seqs, large=chapter.large),
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


@chapter.act("run", tr("模拟器", "The simulator"))
def run() -> None:
    chapter.say("run")
    num_requests = chapter.slide("n", tr("请求数", "Requests"), 1, WIDEST, start=6, live=True)
    label = tr("提示词 token", "Prompt tokens")
    prompt = chapter.slide("prompt", label, 50, 4000, start=500, step=50, live=True)
    label = tr("输出 token", "Output tokens")
    output = chapter.slide("output", label, 5, 100, start=40, step=5, live=True)
    seqs = chapter.slide("batch", tr("批的上限", "Batch limit"), 1, WIDEST, start=2, live=True)
    label = tr("预填充速度", "Prefill speed")
    prefill = chapter.slide(
        "prefill", label, 1000, 20_000, start=8000, step=500, unit="token/s", live=True
    )
    label = tr("解码一步", "A decode step")
    decode = chapter.slide("decode", label, 5, 100, start=25, step=5, unit="ms", live=True)

    server = Server(
        scheduler.Chunked(seqs),
        Paged.for_tokens(POOL_TOKENS),
        SimpleClock.of_milliseconds(prefill, decode),
    )
    lengths = workload.FixedLength(prompt), workload.FixedLength(output)
    requests = workload.Workload(num_requests, ALL_AT_ONCE, *lengths).requests()
    setup = server.serving(requests)
    limits = sweep.setups(setup, sweep.field("policy.max_num_seqs"), (seqs, WIDEST))
    here, wide = runs.summary(setup), runs.summaries(limits)[WIDEST]

    chapter.cards(run_cards.with_memory(setup, MODEL, POOL_TOKENS))
    alt = tr("每个请求的排队、预填充与解码", "Queue, prefill and decode of each request")
    chapter.play(frames.request_timeline(setup, alt), "run")
    pool = memory(sizes.request_bytes(MODEL, POOL_TOKENS))
    chapter.leaves_out("run_leaves_out", **trust(server), model=MODEL.name, pool=pool)
    chapter.say(
        "run_result",
        ttft=seconds(here.ttft.mean),
        queue_share=percent(here.queue_share),
        itl=seconds(here.itl.mean),
        throughput=count(here.output_tokens_per_second),
        kv=percent(here.peak_kv_usage),
    )
    chapter.say(
        "run_wide",
        widest=WIDEST,
        ttft=seconds(wide.ttft.mean),
        itl=seconds(wide.itl.mean),
        throughput=count(wide.output_tokens_per_second),
        kv=percent(wide.peak_kv_usage),
    )
    chapter.flags()
    chapter.leads({tr("其余的旋钮和真实流量", "All other knobs, real traffic"): BENCH})


@chapter.act("check", tr("自测", "Self-check"))
def check() -> None:
    chapter.say("check")
    chapter.quiz()


# -- what a run shows -----------------------------------------------------------------------------


def draw_timeline(setup: Setup) -> None:
    alt = tr(
        "前几十个请求的排队、预填充、解码与抢占",
        "Queue, prefill, decode and preemption of the first requests",
    )
    chapter.draw(run_pictures.timeline(runs.run(setup), large=chapter.large), "timeline", alt)


def trust(server: Server) -> dict[str, Any]:
    """The blanks of `leaves_out`: how far to trust the figures; whose rules, which step times."""
    return {
        "scheduling": chapter.words(whose_rules(server)),
        "step_times": chapter.words(whose_times(server)),
    }


chapter.show()
