"""Chapter 5.  Static and continuous batching: slots idle, slots reused.

The reader watches a static batch wait for its longest answer, sees the same requests under
continuous batching on the same clock, then looks for when the difference is large, and for the
slots that continuous batching still leaves empty.
"""

from sim import metrics, scheduler, workload
from sim.engine import Setup
from sim.request import Request
from ui import lesson
from ui.lesson import tr
from ui.practice import predict
from ui.results import runs
from ui.subjects.batching import frames, pictures
from ui.subjects.batching.nine import CLOCK, OUTPUTS, PLENTY, PROMPT_TOKENS, TICK_SECONDS
from ui.words.numbers import count, in_percent, percent, significant, steps

MEAN_OUTPUT_TOKENS = 30
A_TOKENS, B_TOKENS, C_TOKENS = OUTPUTS[:3]
PROMPTS = (12, 40, 6, 24, 18, 30, 9, 21, 15)  # and, where it matters, their prompts
ARRIVALS: dict[str, workload.Arrivals] = {
    "once": workload.BurstArrivals(size=60),
    "trickle": workload.PoissonArrivals(rate=12),
}
WINDOWS = (0.0, 0.125, 0.25, 0.5, 0.75, 1.0, 1.5)  # seconds, whole ticks
FEW_REQUESTS = {"slots": 8, "requests": 5, "spread": 2.0}
MANY_STALLS = {"slots": 12, "requests": 24, "spread": 2.0}
LONG_TAIL = {"slots": 4, "requests": 24, "spread": 12.0}

chapter = lesson.open(__file__)
STATIC = tr("静态", "Static")
DYNAMIC = tr("动态", "Dynamic")
CONTINUOUS = tr("连续", "Continuous")


def served(requests: tuple[Request, ...], policy: scheduler.Policy) -> Setup:
    return Setup(requests, policy, PLENTY, CLOCK)


@chapter.act("hook", tr("静态批", "Static"))
def hook() -> None:
    chapter.say("hook", a=A_TOKENS, b=B_TOKENS, c=C_TOKENS)
    label = tr("B 写多少 token", "Tokens that B writes")
    longest = chapter.slide("longest", label, 10, 200, start=B_TOKENS)
    requests = workload.of_lengths((A_TOKENS, longest, C_TOKENS), PROMPT_TOKENS)
    setup = served(requests, scheduler.Static(max_num_seqs=3))
    grid, summary = runs.grid(setup, TICK_SECONDS), runs.summary(setup)

    utilization = percent(summary.slot_utilization)
    truth = predict.Value(0, 100, unit="%", truth=in_percent(summary.slot_utilization))
    guess = chapter.predict(
        "utilization",
        chapter.words("hook_question"),
        truth,
        outcome=chapter.words("hook_outcome", utilization=utilization),
    )
    alt = tr("三个槽位上的静态批，逐步播放", "A static batch in three slots, step by step")
    alone = [(STATIC, grid)]
    chapter.play(frames.slot_frames(alone, len(requests), alt, guess.value), "static")
    chapter.leaves_out("hook_leaves_out")

    generated, steps = count(summary.output_tokens), count(summary.num_steps)
    chapter.say(
        "hook_result",
        after=guess,
        generated=generated,
        slot_steps=count(grid.num_slot_steps),
        utilization=utilization,
        held=percent(grid.shares["held"]),
    )
    chapter.explain(
        "hook_formula", generated=generated, slots=3, steps=steps, utilization=utilization
    )


def choose_three() -> tuple[Request, ...]:
    a = chapter.slide("first", tr("A 写多少 token", "Tokens that A writes"), 5, 200, start=A_TOKENS)
    b = chapter.slide(
        "longest", tr("B 写多少 token", "Tokens that B writes"), 10, 200, start=B_TOKENS
    )
    c = chapter.slide("third", tr("C 写多少 token", "Tokens that C writes"), 5, 200, start=C_TOKENS)
    return workload.of_lengths((a, b, c), PROMPT_TOKENS)


@chapter.act("compare", tr("连续批", "Continuous"))
def compare() -> None:
    chapter.say("compare")
    crowds = {"nine": tr("九个", "nine"), "three": tr("只有 A、B、C", "A, B and C alone")}
    are_alone = chapter.choose("who", tr("谁来", "Who comes"), crowds, start="nine") == "three"
    if are_alone:
        slots, requests = 3, choose_three()
    else:
        slots = chapter.slide("width", tr("槽位数", "Slots"), 2, 6, start=3)
        requests = workload.of_lengths(OUTPUTS, PROMPT_TOKENS)
    chapter.say("compare_alone" if are_alone else "compare_nine")
    static = served(requests, scheduler.Static(slots))
    continuous = served(requests, scheduler.Continuous(slots))
    upper, lower = runs.grid(static, TICK_SECONDS), runs.grid(continuous, TICK_SECONDS)
    before, after = runs.summary(static), runs.summary(continuous)

    alt = tr(
        "上：静态批处理；下：连续批处理；同一条时间轴",
        "Above: static batching; below: continuous batching; one time axis",
    )
    grids = [(STATIC, upper), (CONTINUOUS, lower)]
    chapter.play(frames.slot_frames(grids, len(requests), alt), "compare")
    chapter.leaves_out("compare_leaves_out")

    if are_alone:
        chapter.say(
            "compare_alone_result",
            steps=count(before.num_steps),
            held=percent(upper.shares["held"]),
            empty=percent(lower.shares["free"]),
        )
    else:
        chapter.say(
            "compare_result",
            requests=count(before.num_served),
            static_steps=count(before.num_steps),
            continuous_steps=count(after.num_steps),
            static_utilization=percent(before.slot_utilization),
            continuous_utilization=percent(after.slot_utilization),
            static_wait=steps(before.queue_time.mean, TICK_SECONDS),
            continuous_wait=steps(after.queue_time.mean, TICK_SECONDS),
        )
        chapter.say(
            "compare_gap",
            stalled=percent(lower.shares["stalled"]),
            empty=percent(lower.shares["free"]),
        )
    chapter.explain("factors")
    chapter.flags()


@chapter.act("shapes", tr("为何能同算", "Shapes"))
def shapes() -> None:
    chapter.say("shapes")
    at = chapter.slide("at", tr("看第几步", "Look at step"), 1, 60, start=11)
    requests = workload.of_lengths(OUTPUTS, PROMPTS)
    step = runs.step(served(requests, scheduler.Chunked(max_num_seqs=4)), at)

    chapter.draw(
        pictures.shared_step(step, large=chapter.large),
        "shapes",
        alt=tr(
            "上：所有请求的 token 接成一条；下：每个请求各自的 KV",
            "Above: the tokens of all requests end to end; below: each request's own KV",
        ),
    )
    chapter.leaves_out("shapes_leaves_out")
    chapter.say(
        "shapes_result",
        step=count(at),
        requests=count(len(step.work)),
        tokens=count(step.num_tokens),
        contexts=pictures.contexts(step),
    )
    chapter.prove("batched")


@chapter.act("sandbox", tr("自己调", "Sandbox"))
def sandbox() -> None:
    chapter.say("sandbox")
    slots = chapter.slide("slots", tr("槽位数", "Slots"), 1, 12, start=4, live=True)
    num_requests = chapter.slide("requests", tr("请求数", "Requests"), 1, 60, start=24, live=True)
    label = tr("长度差异", "Length spread")
    hint = tr("输出长度的 p99 ÷ 均值", "p99 of the output length ÷ its mean")
    spread = chapter.slide("spread", label, 1.0, 12.0, start=4.0, step=0.5, help=hint, live=True)
    arrival = chapter.choose(
        "arrival",
        tr("到达", "Arrival"),
        {"once": tr("同时", "at once"), "trickle": tr("陆续", "spread")},
        start="once",
    )
    requests = workload.on_ticks(
        workload.Workload(
            num_requests,
            ARRIVALS[arrival],
            workload.FixedLength(PROMPT_TOKENS),
            workload.LognormalLength.with_spread(MEAN_OUTPUT_TOKENS, spread),
        ).requests(),
        TICK_SECONDS,
    )
    static = served(requests, scheduler.Static(slots))
    continuous = served(requests, scheduler.Continuous(slots))
    upper, lower = runs.grid(static, TICK_SECONDS), runs.grid(continuous, TICK_SECONDS)
    before, after = runs.summary(static), runs.summary(continuous)

    alt = tr("你的请求在两种策略下的槽位图", "Your requests under both policies, slot by slot")
    grids = [(STATIC, upper), (CONTINUOUS, lower)]
    chapter.play(frames.slot_frames(grids, num_requests, alt), "sandbox")
    chapter.draw(
        pictures.slot_shares(grids, large=chapter.large),
        "shares",
        alt=tr("两种策略下槽位时间的去向", "Where the slots' time goes under both policies"),
    )
    chapter.leaves_out("sandbox_leaves_out", mean=MEAN_OUTPUT_TOKENS)
    chapter.say(
        "sandbox_result",
        static_utilization=percent(before.slot_utilization),
        continuous_utilization=percent(after.slot_utilization),
        static_span=steps(before.duration_seconds, TICK_SECONDS),
        continuous_span=steps(after.duration_seconds, TICK_SECONDS),
        static_wait=steps(before.queue_time.mean, TICK_SECONDS),
        continuous_wait=steps(after.queue_time.mean, TICK_SECONDS),
    )
    chapter.say("limits")
    chapter.presets(
        {"limits_few": FEW_REQUESTS, "limits_tail": LONG_TAIL, "limits_stall": MANY_STALLS}
    )


@chapter.act("dynamic", tr("动态批", "Dynamic"), deeper=True)
def dynamic() -> None:
    chapter.say("dynamic")
    label = tr("最多等多久", "Wait at most")
    window = chapter.pick("window", label, WINDOWS, start=0.5, unit="s")
    rate = chapter.slide("rate", tr("每秒到达", "Arrivals per s"), 2, 40, start=12)
    requests = workload.on_ticks(
        workload.Workload(
            12,
            workload.PoissonArrivals(rate),
            workload.FixedLength(PROMPT_TOKENS),
            workload.LognormalLength.with_spread(MEAN_OUTPUT_TOKENS, 3.0),
        ).requests(),
        TICK_SECONDS,
    )
    policies: dict[str, scheduler.Policy] = {
        STATIC: scheduler.Static(4),
        DYNAMIC: scheduler.Dynamic(4, window_seconds=window),
        CONTINUOUS: scheduler.Continuous(4),
    }
    setups = {name: served(requests, policy) for name, policy in policies.items()}
    grids = [(name, runs.grid(setup, TICK_SECONDS)) for name, setup in setups.items()]
    static, waiting, continuous = runs.summaries(setups).values()

    alt = tr("从上到下：静态、动态、连续", "From top to bottom: static, dynamic, continuous")
    chapter.play(frames.slot_frames(grids, len(requests), alt), "dynamic")
    chapter.leaves_out("dynamic_leaves_out")
    chapter.say(
        "dynamic_result",
        static_utilization=percent(static.slot_utilization),
        dynamic_utilization=percent(waiting.slot_utilization),
        continuous_utilization=percent(continuous.slot_utilization),
        static_wait=steps(static.queue_time.mean, TICK_SECONDS),
        dynamic_wait=steps(waiting.queue_time.mean, TICK_SECONDS),
        continuous_wait=steps(continuous.queue_time.mean, TICK_SECONDS),
        static_size=significant(metrics.starting_together(runs.run(setups[STATIC])), 2),
        dynamic_size=significant(metrics.starting_together(runs.run(setups[DYNAMIC])), 2),
    )
    trend = predict.trend(static.queue_time.mean, waiting.queue_time.mean)
    chapter.say({"up": "dynamic_costs", "down": "dynamic_saves", "same": "dynamic_even"}[trend])


@chapter.act("check", tr("自测", "Self-check"))
def check() -> None:
    chapter.say("check")
    chapter.quiz()


chapter.show()
