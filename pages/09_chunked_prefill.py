"""Chapter 9.  Chunked prefill: one long prompt, and everybody else.

The reader sees all streams freeze while one long prompt is computed, cuts the prompt into chunks
and follows both servers step by step on one clock, turns the budget, looks for the loads at which
chunking helps or harms the TTFT of short and of long prompts, and caps what one prompt may take.
"""

from typing import Any

from sim import scheduler, specs, workload
from sim.cost import Roofline
from sim.engine import Setup
from sim.kv import Paged
from sim.request import Request
from sim.studies import sweep
from sim.views import stalls
from ui import lesson
from ui.lesson import Card, tr
from ui.practice import predict
from ui.results import runs
from ui.subjects.batching import chunk_pictures, frames, stall_notes
from ui.words.numbers import count, plain, seconds, significant

CLOCK = Roofline(specs.MODELS["Qwen3-14B"], specs.GPUS["H100 SXM"])
MEMORY = Paged.beside(CLOCK.model, CLOCK.gpu)
PLENTY = Paged(num_blocks=100_000)
MODEL_LENGTH = 16_384  # without chunking the budget must be at least this
SMALL_BUDGET = 512
DOCUMENT_TOKENS = 8_192
CHAT_PROMPT = 8
LONGEST_CHAT = 512  # prompts up to here are chats, longer ones are documents

CHATS = workload.of_lengths([48] * 3, CHAT_PROMPT)  # A, B and C
COMES_SECONDS = 0.1
DOCUMENTS = (1_024, 2_048, 4_096, 8_192, 12_288)

BUDGETS = (256, 512, 1_024, 2_048, 4_096, 8_192, 16_384)
CROWDS = (4, 16, 64, 128, 256)  # how many decode
CROWD_PROMPT = 1  # so all of them decode from the second step on
CROWD_OUTPUT = 72
CROWD_SECONDS = 0.4  # when the document comes

TRAFFIC_BUDGETS = {"256": "256", "512": "512", "2048": "2,048", "8192": "8,192"}
LOADS = (2.0, 6.0, 10.0, 14.0, 15.5)  # requests per second
OVERLOAD = 40.0  # more than any budget can serve
TRAFFIC = tuple(
    workload.Workload(
        400,
        workload.PoissonArrivals(10),
        workload.OneInMany(usual=300, rare=DOCUMENT_TOKENS, every=10),
        workload.FixedLength(150),
        seed=seed,
    ).requests()
    for seed in range(5)
)
NOTICEABLE = 0.002  # seconds; a smaller difference of mean TTFT has no sign

QUEUE_BUDGET = 2_048
THRESHOLDS = (256, 512, 1_024, 2_048)
QUEUE = (  # A decodes, B is a document, C and D are chats that come after it
    Request(0, 0.0, CHAT_PROMPT, 40),
    Request(1, 0.1, DOCUMENT_TOKENS, 8),
    Request(2, 0.13, 200, 20),
    Request(3, 0.2, 200, 20),
)

chapter = lesson.open(__file__)
OFF = tr("分块关", "Chunking off")
ON = tr("分块开", "Chunking on")
TOKENS = tr("token", "tokens")
WHOLE = scheduler.Chunked(512, MODEL_LENGTH, chunked_prefill=False)


def served(
    requests: tuple[Request, ...], policy: scheduler.Policy, memory: Paged = MEMORY
) -> Setup:
    return Setup(requests, policy, memory, CLOCK)


def with_document(prompt_tokens: int) -> tuple[Request, ...]:
    return (*CHATS, Request(len(CHATS), COMES_SECONDS, prompt_tokens, 12))


def ttft_change(off: Setup, on: Setup) -> stalls.TtftChange:
    before, after = (
        {rate: runs.by_prompt(sweep.arrival_rate(setup, rate), LONGEST_CHAT) for rate in LOADS}
        for setup in (off, on)
    )
    return stalls.TtftChange.between(before, after)


def titled(name: str, budget: int) -> str:
    return tr(
        f"{name} · 每步最多 {budget:,} 个 token", f"{name} · at most {budget:,} tokens a step"
    )


def cards_of(setup: Setup) -> list[Card]:
    chats, document = runs.by_prompt(setup, LONGEST_CHAT)
    others = tr("其他人的 ITL", "ITL of the others")
    return [
        Card(f"{others} p50", seconds(chats.itl.p50)),
        Card("p99", seconds(chats.itl.p99)),
        Card(tr("最长停顿", "Longest gap"), seconds(chats.itl.max)),
        Card(tr("长文的 TTFT", "TTFT of the document"), seconds(document.ttft.mean)),
    ]


@chapter.act("hook", tr("全场卡住", "The freeze"))
def hook() -> None:
    chapter.say("hook", prompt=count(DOCUMENT_TOKENS))
    is_on = chapter.toggle("chunked", tr("分块预填充", "Chunked prefill"))
    requests = with_document(DOCUMENT_TOKENS)
    whole = served(requests, WHOLE)
    chunked = served(requests, scheduler.Chunked(512, SMALL_BUDGET))
    (before, document_before), (after, document_after) = (
        runs.by_prompt(whole, LONGEST_CHAT),
        runs.by_prompt(chunked, LONGEST_CHAT),
    )

    metrics = {
        "p50": tr("其他人的 ITL p50", "ITL p50 of the others"),
        "worst": tr("其他人最长的停顿", "Longest gap of the others"),
        "ttft": tr("长文自己的 TTFT", "TTFT of the document"),
    }
    truth = {
        "p50": predict.trend(before.itl.p50, after.itl.p50),
        "worst": predict.trend(before.itl.max, after.itl.max),
        "ttft": predict.trend(document_before.ttft.mean, document_after.ttft.mean),
    }
    numbers: dict[str, Any] = {
        "p50_off": seconds(before.itl.p50),
        "p50_on": seconds(after.itl.p50),
        "worst_off": seconds(before.itl.max),
        "worst_on": seconds(after.itl.max),
        "ttft_off": seconds(document_before.ttft.mean),
        "ttft_on": seconds(document_after.ttft.mean),
    }
    guess = chapter.predict(
        "chunking",
        chapter.words("hook_question", budget=SMALL_BUDGET),
        predict.Trends(metrics, truth),
        outcome=chapter.words("hook_outcome", **numbers),
    )
    here = chunked if is_on else whole
    name = titled(ON, SMALL_BUDGET) if is_on else titled(OFF, MODEL_LENGTH)
    alt = tr(
        "三个对话和一篇长文，逐步播放：谁在解码，谁在等",
        "Three chats and a document, step by step: who decodes, who waits",
    )
    chapter.cards(cards_of(here))
    chapter.play(frames.shared_steps(here, alt, name), "freeze")
    chapter.leaves_out("hook_leaves_out", gpu=CLOCK.gpu.name, model=CLOCK.model.name)
    chapter.say("hook_result", after=guess, prompt=count(DOCUMENT_TOKENS), **numbers)
    chapter.flags()


@chapter.act("chunks", tr("切成小块", "In chunks"))
def chunks() -> None:
    chapter.say("chunks", budget=SMALL_BUDGET, length=count(MODEL_LENGTH))
    label = tr("长文的提示词", "Prompt of the document")
    prompt = int(chapter.pick("prompt", label, DOCUMENTS, start=DOCUMENT_TOKENS, unit=TOKENS))
    whole = served(with_document(prompt), WHOLE)
    chunked = served(with_document(prompt), scheduler.Chunked(512, SMALL_BUDGET))
    (before, document_before), (after, document_after) = (
        runs.by_prompt(whole, LONGEST_CHAT),
        runs.by_prompt(chunked, LONGEST_CHAT),
    )
    alt = tr("上：不分块；下：分块；同一条时间轴", "Above: whole; below: in chunks; one time axis")
    upper = frames.shared_steps(whole, alt, titled(OFF, MODEL_LENGTH))
    lower = frames.shared_steps(chunked, alt, titled(ON, SMALL_BUDGET))
    chapter.play(upper, "whole", clock="pair")
    chapter.play(lower, "chunked", clock="pair")
    chapter.leaves_out("chunks_leaves_out", length=count(MODEL_LENGTH))
    chapter.say(
        "chunks_result",
        prompt=count(prompt),
        worst_off=seconds(before.itl.max),
        worst_on=seconds(after.itl.max),
        ttft_off=seconds(document_before.ttft.mean),
        ttft_on=seconds(document_after.ttft.mean),
    )
    chapter.explain(
        "chunks_formula",
        budget=SMALL_BUDGET,
        chats=len(CHATS),
        worst_on=seconds(after.itl.max),
        p50=seconds(before.itl.p50),
        floor=seconds(CLOCK.decode_floor_seconds),
    )
    chapter.prove("chunked")


@chapter.act("budget", tr("预算多大", "The budget"))
def budget() -> None:
    chapter.say("budget")
    label = tr("每步的 token 预算", "Token budget of a step")
    here = int(chapter.pick("budget", label, BUDGETS, start=SMALL_BUDGET, live=True))
    decodes = int(chapter.pick("decodes", tr("正在解码", "Decoding"), CROWDS, start=4, live=True))
    chats = workload.of_lengths([CROWD_OUTPUT] * decodes, CROWD_PROMPT)
    requests = (*chats, Request(decodes, CROWD_SECONDS, DOCUMENT_TOKENS, 12))
    setups = {size: served(requests, scheduler.Chunked(512, size)) for size in BUDGETS}
    points = {size: runs.by_prompt(setup, LONGEST_CHAT) for size, setup in setups.items()}
    summary, (others, document) = runs.summary(setups[here]), points[here]
    decode, prefill = stalls.tokens_at(runs.run(setups[here]), CROWD_SECONDS)

    chapter.cards(
        [
            Card(tr("其他人最长停顿", "Longest gap, others"), seconds(others.itl.max)),
            Card(tr("长文的 TTFT", "TTFT, document"), seconds(document.ttft.mean)),
            Card(tr("总步数", "Steps in all"), count(summary.num_steps)),
            Card(tr("吞吐 token/s", "Tokens/s in all"), count(summary.total_tokens_per_second)),
        ]
    )
    chapter.draw(
        chunk_pictures.smooth_or_soon(points, here, large=chapter.large),
        "trade",
        alt=tr(
            "每个预算一个点：其他人最长的停顿与长文的 TTFT",
            "One point per budget: longest gap of the others and TTFT of the document",
        ),
    )
    chapter.draw(
        chunk_pictures.budget_of_a_step(here, decode, prefill, large=chapter.large),
        "share",
        alt=tr("长文到达后的第一步：预算分给了谁", "The first step after the document came: whose"),
    )
    chapter.leaves_out("budget_leaves_out", output=CROWD_OUTPUT, rate=plain(OVERLOAD))
    chapter.say(
        "budget_result",
        budget=count(here),
        decode=count(decode),
        prefill=count(prefill),
        p50=seconds(others.itl.p50),
        p99=seconds(others.itl.p99),
        worst=seconds(others.itl.max),
        ttft=seconds(document.ttft.mean),
    )
    rushed = sweep.arrival_rate(served(TRAFFIC[0], scheduler.Chunked(512)), OVERLOAD)
    budget_of = sweep.field("policy.max_num_batched_tokens")
    busy = runs.summaries(sweep.setups(rushed, budget_of, BUDGETS))
    per_second = {size: one.total_tokens_per_second for size, one in busy.items()}
    best = max(per_second, key=per_second.__getitem__)
    chapter.say(
        "budget_extremes",
        best=count(best),
        most=significant(per_second[best]),
        small=count(BUDGETS[0]),
        at_small=significant(per_second[BUDGETS[0]]),
        large=count(BUDGETS[-1]),
        at_large=significant(per_second[BUDGETS[-1]]),
    )
    chapter.leads({tr("预填充和解码分到不同的卡上", "GPUs of their own for prefill"): "13_systems"})
    chapter.presets(
        {
            "budget_default": {"budget": 8192, "decodes": 4},
            "budget_eaten": {"budget": 512, "decodes": 256},
            "budget_starved": {"budget": 256, "decodes": 256},
        }
    )


@chapter.act("load", tr("谁的 TTFT", "Whose TTFT"), deeper=True)
def load() -> None:
    chapter.say("load", every=10, prompt=count(DOCUMENT_TOKENS), series=len(TRAFFIC))
    label = tr("分块时的预算", "Budget with chunking")
    size = int(chapter.choose("size", label, TRAFFIC_BUDGETS, start="2048"))
    pools = {"card": tr("这张卡的", "this GPU's"), "plenty": tr("用不完", "plenty")}
    pool = chapter.choose("kv", tr("KV 显存", "KV memory"), pools, start="card")
    memory = {"card": MEMORY, "plenty": PLENTY}[pool]
    with chapter.waiting(tr("正在模拟五串请求……", "Simulating five series ...")):
        changes = [
            ttft_change(
                served(series, WHOLE, memory),
                served(series, scheduler.Chunked(512, size), memory),
            )
            for series in TRAFFIC
        ]
    documents, chats = ([one.long for one in changes], [one.short for one in changes])
    chapter.draw(
        chunk_pictures.ttft_change(LOADS, documents, chats, large=chapter.large),
        "change",
        alt=tr(
            "横轴是负载，纵轴是开与关的平均 TTFT 之差，长文与聊天各一条，竖线是各串的范围",
            "Mean TTFT with chunking minus without, along the load; documents and chats apart, "
            "with the range of all series",
        ),
    )
    chapter.leaves_out(
        "load_leaves_out",
        requests=len(TRAFFIC[0]),
        series=len(TRAFFIC),
        least=seconds(NOTICEABLE),
    )
    chapter.say(
        "load_result",
        documents=stall_notes.where_all_agree(LOADS, stalls.agreed(documents, NOTICEABLE)),
        chats=stall_notes.where_all_agree(LOADS, stalls.agreed(chats, NOTICEABLE)),
    )
    soonest, latest = map(stall_notes.later_or_sooner, stalls.range_of_short(changes))
    chapter.say(
        "load_why",
        busiest=plain(LOADS[-1]),
        budget=count(size),
        sooner=stalls.num_sooner_at_last(changes),
        series=len(TRAFFIC),
        soonest=soonest,
        latest=latest,
    )
    chapter.say("load_others")


@chapter.act("cap", tr("给长文设上限", "A cap for one"), deeper=True)
def cap() -> None:
    chapter.say("cap", budget=count(QUEUE_BUDGET))
    label = tr("单个请求每步上限", "Cap per request and step")
    threshold = int(chapter.pick("threshold", label, THRESHOLDS, start=512, unit=TOKENS))
    free = served(QUEUE, scheduler.Chunked(512, QUEUE_BUDGET))
    capped_policy = scheduler.Chunked(512, QUEUE_BUDGET, long_prefill_token_threshold=threshold)
    capped = served(QUEUE, capped_policy)
    (before, document_before), (after, document_after) = (
        runs.by_prompt(free, LONGEST_CHAT),
        runs.by_prompt(capped, LONGEST_CHAT),
    )
    alt = tr("上：不设上限；下：设上限；同一条时间轴", "Above: no cap; below: a cap; one time axis")
    none, some = (
        tr("不设上限", "No cap"),
        tr(f"每个请求每步最多 {threshold:,}", f"At most {threshold:,} per request and step"),
    )
    chapter.play(frames.shared_steps(free, alt, none), "free", clock="cap")
    chapter.play(frames.shared_steps(capped, alt, some), "capped", clock="cap")
    chapter.leaves_out("cap_leaves_out", budget=count(QUEUE_BUDGET))
    slowest, ttft = seconds(before.ttft.max), seconds(document_before.ttft.mean)
    if threshold < QUEUE_BUDGET:
        chapter.say(
            "cap_result",
            slowest_off=slowest,
            slowest_on=seconds(after.ttft.max),
            ttft_off=ttft,
            ttft_on=seconds(document_after.ttft.mean),
        )
    else:
        chapter.say("cap_none", budget=count(QUEUE_BUDGET), slowest=slowest, ttft=ttft)


@chapter.act("check", tr("自测", "Self-check"))
def check() -> None:
    chapter.say("check")
    chapter.quiz()


chapter.show()
