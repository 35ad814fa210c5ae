"""Chapter 7.  Contiguous or paged: does D fit?

The reader sees a request turned away although enough memory is free, deals the same memory out in
blocks on the same clock, measures what either wastes under a real load and looks for the best
block size, then walks through what happens when blocks run out and when several answers share them.
"""

from typing import cast

from sim import scheduler, specs, workload
from sim.cost import SimpleClock
from sim.engine import Setup
from sim.kv import Contiguous, Paged
from sim.kv.contiguous import Fit, Reservation, copy_seconds
from sim.request import Request
from sim.views import forks, waste
from sim.views.forks import ForkSetup
from ui import lesson
from ui.lesson import Card, tr
from ui.practice import predict
from ui.results import runs
from ui.subjects.memory import blocks, wasted
from ui.words.numbers import count, percent, plain, seconds, significant

# A scale model: a token stands for 0.025 GB of KV.
TOKENS_PER_GB = 40
NUM_SLOTS = 136
LONGEST_TOKENS = 64
BLOCK_TOKENS = 8
CLOCK = SimpleClock(prefill_tokens_per_second=1e12, decode_seconds_per_step=1)
POLICY = scheduler.Chunked(16)
A, B, C, D, E, F, V, W = 0, 1, 2, 3, 4, 5, 21, 22  # requests, by letter
EARLY = (
    Request(A, 0, 8, 24),
    Request(W, 1, 20, 4),
    Request(B, 2, 1, 11),
    Request(V, 3, 17, 3),
    Request(C, 4, 16, 32),
)
COMERS = {
    "d": (*EARLY, Request(D, 7, 12, 28)),
    "ef": (*EARLY, Request(E, 7, 8, 12), Request(F, 8, 8, 16)),
}
COPYING_GPU = specs.GPUS["A100 80G SXM"]
HOLES: dict[str, dict[str, object]] = {
    "first_fit": {"comers": "ef"},
    "best_fit": {"comers": "ef", "fit": "best"},
    "reserve_limit": {"reserve": "model_limit"},
}

# The PagedAttention paper's OPT-13B on an A100 with 40 GB (its table 1), chats as in section 6.1.
POOL_TOKENS = 15_700
NUM_CHATS, PROMPT_TOKENS, MODEL_LENGTH = 120, 161, 2_048
LONGEST_HALF = MODEL_LENGTH // 2  # of a prompt, and of an answer
SPREAD = 5  # 99th percentile of a length over its mean
PREFIX_TOKENS = 100
ANSWERS = (128, 256, 338, 512)
BLOCK_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
CHAT_POLICY = scheduler.Chunked(256, POOL_TOKENS)

# Three that do not all fit to their end.
GROWING = (Request(A, 0, 10, 20), Request(B, 1, 6, 18), Request(C, 2, 14, 12))
POOLS = (9, 10, 11, 12, 13, 14, 15, 16, 18, 20)
SMALL_BLOCK = 4
SHORTAGES: dict[str, dict[str, object]] = {
    "full_enough": {"pool": 20},
    "full_uncached": {"cache": 0},
}

PROMPTS = (7, 8, 9, 10, 11, 12)
FORKS: dict[str, dict[str, object]] = {
    "fork_beam": {"search": "beam"},
    "fork_even": {"prompt": 8},
}

chapter = lesson.open(__file__)
TOKENS = tr("token", "tokens")


def contiguous(
    comers: str, reserve: str = "exact", fit: str = "first", compacts: bool = False
) -> Setup:
    memory = Contiguous(
        NUM_SLOTS, cast(Reservation, reserve), cast(Fit, fit), LONGEST_TOKENS, compacts
    )
    return Setup(COMERS[comers], POLICY, memory, CLOCK)


def in_blocks(comers: str) -> Setup:
    memory = Paged.for_tokens(NUM_SLOTS, BLOCK_TOKENS, prefix_caching=False)
    return Setup(COMERS[comers], POLICY, memory, CLOCK)


def choose_comers() -> str:
    options = {"d": tr("D 1.0 GB", "D 1.0 GB"), "ef": tr("E 0.5，F 0.6", "E 0.5, F 0.6")}
    return chapter.choose("comers", tr("谁来", "Who comes"), options, start="d")


@chapter.act("hook", tr("D 放得下吗", "Does D fit?"))
def hook() -> None:
    chapter.say("hook", size=blocks.gigabytes(NUM_SLOTS, TOKENS_PER_GB))
    comers = choose_comers()
    reserves = {
        "exact": tr("恰好", "exact"),
        "power_of_two": tr("2 的幂", "power of two"),
        "model_limit": tr("上限", "limit"),
    }
    reserve = chapter.choose("reserve", tr("预留多少", "Reserved"), reserves, start="exact")
    fits = {"first": tr("首次适配", "first fit"), "best": tr("最佳适配", "best fit")}
    fit = chapter.choose("fit", tr("选哪个空洞", "Which hole"), fits, start="first")
    compacts = chapter.toggle("compact", tr("整理", "Compact"))
    shown = contiguous(comers, reserve, fit, compacts)
    holes, pool = contiguous("d"), in_blocks("d")
    arrival = blocks.when_it_comes(holes, TOKENS_PER_GB)
    copied = waste.copied_tokens(runs.steps(contiguous("d", compacts=True)))
    copied_gb = blocks.gigabytes(copied, TOKENS_PER_GB)
    options = {
        "neither": tr("都要等", "neither"),
        "holes": tr("一整段马上开始，切成块要等", "in one piece yes, in blocks no"),
        "blocks": tr("一整段要等，切成块马上开始", "in one piece no, in blocks yes"),
        "both": tr("都马上开始", "both"),
    }
    guess = chapter.predict(
        "fits",
        chapter.words("hook_question", free=arrival.free),
        predict.Choice(options, truth=blocks.who_starts_at_once(holes, pool)),
        outcome=chapter.words("hook_outcome", wait=arrival.wait),
    )
    alt = tr(
        "一长条 KV 显存：每个请求一段，段与段之间的空洞；下面是排队的",
        "A strip of KV memory: a piece for each request, holes between them; below, who waits",
    )
    title = tr("连续分配", "One piece each")
    chapter.play(blocks.hole_map(shown, title, TOKENS_PER_GB, alt), "holes")
    chapter.leaves_out("hook_leaves_out")
    chapter.say(
        "hook_result",
        after=guess,
        free=arrival.free,
        need=arrival.need,
        hole=arrival.hole,
        wait=arrival.wait,
    )
    now = blocks.when_it_comes(shown, TOKENS_PER_GB)
    chapter.say(
        "wastes",
        hidden_by=guess,
        later=now.later,
        internal=now.internal,
        external=now.external,
    )
    chapter.say(
        "compaction",
        hidden_by=guess,
        copied=copied_gb,
        time=seconds(copy_seconds(blocks.in_bytes(copied, TOKENS_PER_GB), COPYING_GPU)),
        gpu=COPYING_GPU.name,
    )
    chapter.presets(HOLES)


@chapter.act("paged", tr("切成块", "In blocks"))
def paged() -> None:
    chapter.say("paged", tokens=BLOCK_TOKENS, size=blocks.gigabytes(BLOCK_TOKENS, TOKENS_PER_GB))
    comers = choose_comers()
    holes, pool = contiguous(comers), in_blocks(comers)
    before, after = (blocks.when_it_comes(setup, TOKENS_PER_GB) for setup in (holes, pool))
    alt = tr("上：每个请求一整段，有空洞", "Above: a piece for each request, with holes")
    title = tr("连续分配", "One piece each")
    chapter.play(blocks.hole_map(holes, title, TOKENS_PER_GB, alt), "holes", clock="both")
    alt = tr(
        "下：选中请求的逻辑块、块表，箭头指向各个物理块",
        "Below: the chosen request's logical blocks and table, arrows to the physical blocks",
    )
    chapter.play(blocks.table_map(pool, tr("分页", "Paged"), alt), "tables", clock="both")
    chapter.leaves_out("paged_leaves_out")
    chapter.say(
        "paged_result",
        who=before.who,
        wait_holes=before.wait,
        wait_blocks=after.wait,
        filled_holes=percent(blocks.seen(holes).filled_share),
        filled_blocks=percent(blocks.seen(pool).filled_share),
        broken_holes=before.fragmentation,
        broken_blocks=after.fragmentation,
    )
    chapter.say("paged_as_in_an_os")
    token = blocks.first_written(pool)
    chapter.explain(
        "paged_address",
        who=token.who,
        position=token.position,
        size=token.block_size,
        entry=token.entry,
        block=token.block,
        offset=token.offset,
        slot=token.slot,
    )


@chapter.act("waste", tr("多大的块", "How large a block"))
def compare_waste() -> None:
    chapter.say("waste", slots=count(POOL_TOKENS), requests=NUM_CHATS)
    label = tr("块大小", "Block size")
    size = int(chapter.pick("block", label, BLOCK_SIZES, start=16, unit=TOKENS, live=True))
    label = tr("回答平均多长", "Mean answer")
    answer = int(chapter.pick("answer", label, ANSWERS, start=338, unit=TOKENS, live=True))
    chats = runs.requests(
        workload.Workload(
            NUM_CHATS,
            workload.BurstArrivals(NUM_CHATS),
            workload.LognormalLength(PROMPT_TOKENS, SPREAD * PROMPT_TOKENS, LONGEST_HALF),
            workload.LognormalLength(answer, SPREAD * answer, LONGEST_HALF),
        )
    )
    memories: dict[str, Contiguous | Paged] = {
        tr("预留上限", "reserve limit"): Contiguous(POOL_TOKENS, "model_limit"),
        tr("预留 2 的幂", "power of two"): Contiguous(POOL_TOKENS, "power_of_two"),
        tr("预留恰好", "reserve exact"): Contiguous(POOL_TOKENS, "exact"),
        tr("分页", "in blocks"): Paged.for_tokens(POOL_TOKENS, size, prefix_caching=False),
    }
    shares = {
        name: wasted.shares(Setup(chats, CHAT_POLICY, memory, CLOCK))
        for name, memory in memories.items()
    }
    limit, _, exact, pool = shares.values()
    per_request = waste.slots_per_request(pool, POOL_TOKENS)
    found = waste.shared_tokens(PREFIX_TOKENS, size)
    running = tr("同时运行", "Running at a time")
    chapter.cards(
        [
            Card(f"{running} · {tr('预留上限', 'limit')}", significant(limit.num_running, 2)),
            Card(f"{running} · {tr('分页', 'blocks')}", significant(pool.num_running, 2)),
            Card(tr("分页：装着 token", "Blocks: hold tokens"), percent(pool.filled)),
            Card(tr("每个请求浪费", "Waste per request"), f"{significant(per_request)} {TOKENS}"),
        ]
    )
    chapter.draw(
        wasted.bars(shares, large=chapter.large),
        "shares",
        alt=tr(
            "四条：三种预留和分页，显存里装着 token 的和三种浪费各占多少；旁边是论文实测",
            "Four bars, three reservations and blocks: tokens and three wastes, as shares of "
            "memory; beside them what the paper measured",
        ),
    )
    chapter.draw(
        wasted.against_block_size(
            BLOCK_SIZES, size, per_request, PREFIX_TOKENS, MODEL_LENGTH, large=chapter.large
        ),
        "block_size",
        alt=tr(
            "随块大小：每个请求的浪费上升，共同前缀找回的变少，块表变短",
            "Against the block size: waste per request rises, less of a prefix is found, tables "
            "get shorter",
        ),
    )
    chapter.leaves_out("waste_leaves_out", requests=NUM_CHATS, prompt=PROMPT_TOKENS)
    chapter.say(
        "waste_result",
        limit=count(MODEL_LENGTH),
        block=size,
        filled_limit=percent(limit.filled),
        filled_exact=percent(exact.filled),
        filled_paged=percent(pool.filled),
        running_limit=significant(limit.num_running, 2),
        running_paged=significant(pool.num_running, 2),
    )
    chapter.say(
        "block_size",
        prefix=PREFIX_TOKENS,
        block=size,
        found=found,
        limit=count(MODEL_LENGTH),
        entries=count(waste.table_entries(MODEL_LENGTH, size)),
    )
    chapter.explain(
        "waste_how",
        filled_paged=percent(pool.filled),
        wasted=significant(per_request),
        half=plain(waste.expected_slots(size)),
    )


@chapter.act("full", tr("块用完了", "Out of blocks"), deeper=True)
def full() -> None:
    label = tr("池里的块", "Blocks in the pool")
    pool = int(chapter.pick("pool", label, POOLS, start=12, live=True))
    caching = chapter.toggle("cache", tr("前缀缓存", "Prefix cache"), start=True)
    chapter.say("full", blocks=pool)
    memory = Paged(pool + 1, SMALL_BLOCK, caching)
    setup = Setup(GROWING, POLICY, memory, CLOCK)
    losses = waste.losses(runs.steps(setup))
    chapter.cards(
        [
            Card(tr("抢占", "Preemptions"), count(losses.num_preemptions)),
            Card(tr("作废的 KV", "KV dropped"), f"{count(losses.lost_tokens)} {TOKENS}"),
            Card(tr("缓存里找回", "Found again"), f"{count(losses.found_tokens)} {TOKENS}"),
            Card(tr("重算", "Computed again"), f"{count(losses.again_tokens)} {TOKENS}"),
        ]
    )
    alt = tr(
        "块池一步一步：谁占哪块，谁被抢占，哪些空闲块还能命中",
        "The pool step by step: whose each block is, who is preempted, which free ones are known",
    )
    chapter.play(blocks.table_map(setup, tr("块池", "The pool"), alt), "pool")
    chapter.leaves_out("full_leaves_out", size=SMALL_BLOCK)
    if losses.num_preemptions:
        chapter.say(
            "full_result",
            num=count(losses.num_preemptions),
            lost=count(losses.lost_tokens),
            found=count(losses.found_tokens),
            again=count(losses.again_tokens),
        )
    else:
        chapter.say("full_none")
    chapter.presets(SHORTAGES)
    chapter.flags()


@chapter.act("fork", tr("几个回答共用", "Shared by answers"), deeper=True)
def fork() -> None:
    searches = {"parallel": tr("并行采样", "parallel sampling"), "beam": tr("束搜索", "beams")}
    search = chapter.choose("search", tr("怎么分叉", "How"), searches, start="parallel")
    answers = int(chapter.slide("answers", tr("几个回答", "Answers"), 2, 4, start=3, live=True))
    label = tr("提示词", "Prompt")
    prompt = int(chapter.pick("prompt", label, PROMPTS, start=10, unit=TOKENS, live=True))
    setup = ForkSetup(cast(forks.Search, search), answers, prompt)
    chapter.say("fork", answers=answers)
    are_beams = search == "beam"
    full_block = "fork_full_block_beam" if are_beams else "fork_full_block"
    chapter.say(full_block if setup.fills_last_block else "fork_partial_block")
    sharing = blocks.sharing(setup)
    chapter.cards(
        [
            Card(tr("占用的块", "Blocks taken"), count(sharing.num_used_blocks)),
            Card(tr("块表里共列", "Listed in tables"), count(sharing.num_listed_blocks)),
            Card(tr("复制的块", "Blocks copied"), count(sharing.num_copies)),
        ]
    )
    alt = tr(
        "几个回答的块表指向同一些块，写之前才复制没满的那一块",
        "Tables of several answers point at the same blocks; the partial one is copied on write",
    )
    chapter.play(blocks.fork_map(setup, tr("共用的块", "Shared blocks"), alt), "forks")
    chapter.leaves_out("fork_leaves_out")
    chapter.say(
        "fork_result",
        listed=count(sharing.num_listed_blocks),
        used=count(sharing.num_used_blocks),
        copies=count(sharing.num_copies),
    )
    chapter.say("fork_v1_beam" if are_beams else "fork_v1_parallel")
    chapter.presets(FORKS)


@chapter.act("check", tr("自测", "Self-check"))
def check() -> None:
    chapter.say("check")
    chapter.quiz()


chapter.show()
