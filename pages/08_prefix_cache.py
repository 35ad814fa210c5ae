"""Chapter 8.  The prefix cache: the same beginning is computed once.

The reader guesses what a cache makes faster, edits a prompt and watches every later hash change,
watches blocks being shared, left and evicted, and finds out how large a cache must be.
"""

from typing import Any

from sim import scheduler, specs
from sim.cost import Roofline
from sim.engine import Setup
from sim.engine.server import Server
from sim.kv import Paged, lru, sizes
from sim.kv.chain import Lookup, chain
from sim.metrics import computed_tokens, reused_tokens
from sim.specs.gpus import PCIE_5
from sim.studies import caches, replicas, tenants
from sim.views import visits
from sim.workload import Chats
from ui import lesson
from ui.lesson import Card, tr
from ui.practice import predict
from ui.results import runs
from ui.subjects.prefix import fleets as fleet_pictures
from ui.subjects.prefix import pictures, pool_walk, prompts, trees
from ui.subjects.prefix.hash_chain import walk
from ui.words.numbers import count, percent, seconds
from ui.words.numbers import memory as in_bytes

MODEL, GPU = specs.MODELS["Llama-3.1-8B"], specs.GPUS["RTX 4090"]
CLOCK = Roofline(MODEL, GPU)
LARGER = Roofline(MODEL, specs.GPUS["H100 SXM"])
QUIET = Server(scheduler.Chunked(8), Paged.beside(MODEL, GPU), CLOCK)
BUSY = Server(scheduler.Chunked(256), Paged.beside(MODEL, GPU), CLOCK)

BLOCK_SIZE = 16
GAP_SECONDS = 2.0  # one prompt after the other: nobody waits for anybody
BLOCK_SIZES = (4, 8, 16, 32)

ROOMS = (2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072, 262_144, 524_288, 1_048_576)
TALKS = (8, 16, 32, 64, 128)
CHAT_BLOCK, NUM_TURNS_SEEN, TURNS = 64, 600, 10
SYSTEM_TOKENS, ASK_TOKENS, ANSWER_TOKENS = 512, 64, 192
POOLS = pictures.pools(MODEL, (GPU, LARGER.gpu))
FULL_AND_EMPTY: dict[str, dict[str, object]] = {
    "capacity_half": {"room": 16_384, "talks": 16},
    "capacity_crowd": {"room": 16_384, "talks": 128},
    "capacity_enough": {"room": 131_072, "talks": 32},
}

POOL_RANGE = (8, 18)  # blocks

TREE_SLOTS = (18, 20, 24, 28, 32, 36, 40, 44)
CACHE_BLOCKS = (16, 32, 64, 128)
ALIKE = tuple(range(4, 257, 4))  # tokens that two prompts begin with alike
OWN_TOKENS, MANY_SLOTS = 20, 4_000
DOCUMENT = caches.document_between_others(600, 20, 90, 6)
CACHE_SLOTS = tuple(range(630, 841, 10))
TIGHT_SLOTS, ROOMY_SLOTS = 660, 840

PROBE = tenants.Probe()
REPLICAS = (1, 2, 4, 8)
DRAWN_RULES = ("round_robin", "affinity", "balanced")  # random is next to round robin

chapter = lesson.open(__file__)
TOKENS = tr("token", "tokens")
OFF, ON = tr("没有缓存", "without"), tr("有缓存", "with")
SCENES, EDITS = prompts.scene_names(), prompts.edit_names()
ORDERS, RULES = trees.order_names(), fleet_pictures.rule_names()
SALTS = {
    "none": tr("不加", "None"),
    "tenant": tr("每租户一个", "One a tenant"),
    "request": tr("每请求一个", "One a request"),
}
POPULAR = {"0": tr("没有", "None"), "0.3": "30%", "0.6": "60%"}


def one_after_another(scene: str, caching: bool) -> Setup:
    memory = Paged.beside(MODEL, GPU, BLOCK_SIZE, prefix_caching=caching)
    return Setup(prompts.requests(scene, GAP_SECONDS), scheduler.Chunked(8), memory, CLOCK)


def without_cache(value: float) -> str:
    return tr(f"没有缓存 {seconds(value)}", f"{seconds(value)} without")


@chapter.act("hook", tr("有缓存，没缓存", "With and without"))
def hook() -> None:
    chapter.say("hook", model=MODEL.name, gpu=GPU.name)
    scene = chapter.choose("scene", tr("场景", "Scene"), SCENES, start="document")
    is_on = chapter.toggle("cache", tr("前缀缓存", "Prefix cache"))
    setups = {OFF: one_after_another(scene, False), ON: one_after_another(scene, True)}
    off, on = runs.summary(setups[OFF]), runs.summary(setups[ON])
    shown = setups[ON] if is_on else setups[OFF]
    now, run = runs.summary(shown), runs.run(shown)

    metrics = {
        "ttft": tr("TTFT（均值）", "TTFT, mean"),
        "itl": tr("ITL（均值）", "ITL, mean"),
        "whole": tr("整个回答的用时", "Time of a whole answer"),
    }
    truth = {
        "ttft": predict.trend(off.ttft.mean, on.ttft.mean),
        "itl": predict.trend(off.itl.mean, on.itl.mean),
        "whole": predict.trend(off.e2e.mean, on.e2e.mean),
    }
    measured = {
        "ttft_off": seconds(off.ttft.mean),
        "ttft_on": seconds(on.ttft.mean),
        "itl_off": seconds(off.itl.mean),
        "itl_on": seconds(on.itl.mean),
        "whole_off": seconds(off.e2e.mean),
        "whole_on": seconds(on.e2e.mean),
    }
    guess = chapter.predict(
        "faster",
        chapter.words("hook_question"),
        predict.Trends(metrics, truth),
        outcome=chapter.words("hook_outcome", **measured),
    )
    chapter.cards(
        [
            Card(tr("要算的提示词 token", "Prompt tokens computed"), count(computed_tokens(run))),
            Card(tr("命中率", "Hit rate"), percent(now.prefix_hit_rate)),
            Card(
                metrics["ttft"],
                seconds(now.ttft.mean),
                without_cache(off.ttft.mean) if is_on else "",
            ),
            Card(
                metrics["itl"], seconds(now.itl.mean), without_cache(off.itl.mean) if is_on else ""
            ),
        ]
    )
    chapter.draw(
        pictures.computed_and_reused(run, large=chapter.large),
        "prompts",
        alt=tr(
            "每个提示词一条：命中的一段、要算的一段，后面写着它的 TTFT",
            "A bar for each prompt: what was cached, what is computed, and its TTFT",
        ),
    )
    chapter.draw(
        pictures.first_and_others({OFF: off, ON: on}, large=chapter.large),
        "time",
        alt=tr(
            "有缓存和没缓存各一条：首 token 之前的时间，之后的时间",
            "A bar with and one without the cache: the time until the first token, and after it",
        ),
        after=guess,
    )
    chapter.leaves_out("hook_leaves_out", gap=seconds(GAP_SECONDS))
    chapter.say(
        "hook_result",
        after=guess,
        all=count(computed_tokens(runs.run(setups[OFF]))),
        computed=count(computed_tokens(runs.run(setups[ON]))),
        saved=count(reused_tokens(runs.run(setups[ON]))),
        ttft_off=measured["ttft_off"],
        ttft_on=measured["ttft_on"],
        itl_on=measured["itl_on"],
    )
    chapter.say("hook_limits", hidden_by=guess, floor=seconds(CLOCK.decode_floor_seconds))
    begins, asks = prompts.excerpt(scene)
    second = runs.run(setups[ON]).records[1]
    chapter.explain(
        "hook_text",
        begins=begins,
        asks=asks,
        prompt=count(second.request.prompt_tokens),
        hit=count(second.hit_tokens),
        size=BLOCK_SIZE,
    )
    chapter.prove("reused")


@chapter.act("chain", tr("哈希链", "Hash chain"))
def hash_chain() -> None:
    chapter.say("chain")
    edit = chapter.choose("edit", tr("新提示词", "The new prompt"), EDITS, start="word")
    label = tr("块大小", "Block size")
    size = int(chapter.pick("size", label, BLOCK_SIZES, start=8, unit=TOKENS, live=True))
    cached = prompts.edited("same")
    if edit == "own":
        asked = prompts.typed(chapter.write(tr("你的提示词", "Your prompt"), start=cached))
    else:
        asked = prompts.tokens(prompts.edited(edit))
    lookup = Lookup(chain(asked, size), chain(prompts.tokens(cached), size))
    alt = tr(
        "逐步播放：上面是缓存里的块，下面是新提示词的块，一块一块查",
        "Step by step: cached blocks above, those of the new prompt below, looked up one by one",
    )
    chapter.play(walk(lookup, alt), "lookup")
    chapter.leaves_out("chain_leaves_out")
    chapter.say("chain_result", found=lookup.num_found, computed=count(lookup.computed_tokens))


@chapter.act("pool", tr("谁先被淘汰", "Who is evicted"))
def pool() -> None:
    chapter.say("pool", size=pool_walk.BLOCK_SIZE)
    label = tr("池里有几块", "Blocks in the pool")
    blocks = int(chapter.slide("blocks", label, *POOL_RANGE, start=13, live=True))
    moves = pool_walk.moves(blocks)
    alt = tr(
        "逐步播放：上面是池里的每一块和它的引用计数，下面是空闲队列",
        "Step by step: every block of the pool with its reference count, and the free queue",
    )
    chapter.play(pool_walk.walk(moves, alt), "pool")
    chapter.leaves_out("pool_leaves_out")
    chapter.say(
        "pool_result",
        blocks=blocks,
        found_e=visits.num_found(moves, pool_walk.RETURNS_TO_S),
        found_f=visits.num_found(moves, pool_walk.RETURNS_TO_T),
    )


@chapter.act("capacity", tr("要多大", "How large"), deeper=True)
def capacity() -> None:
    chapter.say("capacity", turns=TURNS, system=SYSTEM_TOKENS)
    label = tr("缓存能装的 token", "Tokens the cache holds")
    room = int(chapter.pick("room", label, ROOMS, start=32_768, live=True))
    label = tr("同时进行的对话", "Chats going on")
    talks = int(chapter.pick("talks", label, TALKS, start=32, live=True))
    chats = Chats(NUM_TURNS_SEEN, talks, TURNS, SYSTEM_TOKENS, ASK_TOKENS, ANSWER_TOKENS)
    rates = runs.lru_hit_rates(chats, CHAT_BLOCK, ROOMS)
    (limit,) = runs.lru_hit_rates(chats, CHAT_BLOCK, (None,))
    now = rates[ROOMS.index(room)]
    chapter.cards(
        [
            Card(tr("这么大是", "That is"), in_bytes(sizes.request_bytes(MODEL, room))),
            Card(tr("命中率", "Hit rate"), percent(now)),
            Card(tr("什么都装得下时", "With room for all"), percent(limit)),
        ]
    )
    chapter.draw(
        pictures.hit_curve(ROOMS, rates, limit, room, POOLS, large=chapter.large),
        "rates",
        alt=tr(
            "横轴是缓存能装多少 token，纵轴是命中率：先升后平；另一条是 Mooncake 的实测",
            "Hit rate along the size of the cache: it rises, then stays level; and Mooncake's",
        ),
    )
    chapter.leaves_out("capacity_leaves_out", block=CHAT_BLOCK, requests=NUM_TURNS_SEEN)
    chapter.leaves_out("mooncake_leaves_out", "measured", "mooncake-hits")
    chapter.say(
        "capacity_result",
        model=MODEL.name,
        room=count(room),
        size=in_bytes(sizes.request_bytes(MODEL, room)),
        rate=percent(now),
        limit=percent(limit),
        talks=talks,
    )
    history = max(request.prompt_tokens for request in chats.requests())
    back = caches.Comeback(LARGER, PCIE_5, history)
    chapter.say(
        "capacity_real",
        limit=percent(lru.MOONCAKE_LIMIT),
        model=MODEL.name,
        gpu=LARGER.gpu.name,
        tokens=count(history),
        link=back.link.name,
        fetch=seconds(back.fetched_seconds),
        compute=seconds(back.computed_seconds),
    )
    chapter.presets(FULL_AND_EMPTY)
    whole = tr("和排队、抢占一起，在整台服务器上试", "With queues and preemption, on a server")
    chapter.leads({whole: "17_workbench"})


@chapter.act("tree", tr("基数树", "Radix tree"))
def tree() -> None:
    chapter.say("tree")
    label = tr("KV 槽", "KV slots")
    slots = int(chapter.pick("slots", label, TREE_SLOTS, start=28, live=True))
    order = chapter.choose("order", tr("谁先来", "Who goes first"), ORDERS, start="fcfs")
    queue = trees.queue()
    first, longest = runs.tree(queue, slots, "fcfs"), runs.tree(queue, slots, "lpm")
    served = runs.tree(queue, slots, order)
    alt = tr(
        "基数树逐步播放：每个节点的词、几把锁、下一个被淘汰的叶子；上方是队列和 KV 槽",
        "The radix tree step by step: each node's words, its locks, which leaf goes next; above it "
        "the queue and the KV slots",
    )
    chapter.play(trees.tree_frames(served, queue, slots, alt), "tree")
    found = runs.tree_hits_by_order(queue, TREE_SLOTS, tuple(ORDERS))
    chapter.draw(
        trees.found_by_order(found, (slots, served.num_hit_tokens), large=chapter.large),
        "orders",
        alt=tr(
            "横轴是 KV 槽，纵轴是命中的 token，两种顺序各一条线",
            "Tokens found along the number of KV slots, a line for each order of the queue",
        ),
    )
    chapter.leaves_out("tree_leaves_out")
    chapter.say("tree_rules")
    chapter.say(
        "tree_result",
        slots=slots,
        total=served.num_prompt_tokens,
        first=first.num_hit_tokens,
        longest=longest.num_hit_tokens,
        place=longest.place_of(1),
    )
    chapter.presets(
        {
            "tree_roomy": {"slots": 44, "order": "fcfs"},
            "tree_tight": {"slots": 18, "order": "fcfs"},
            "tree_sorted": {"slots": 18, "order": "lpm"},
        }
    )


@chapter.act("against", tr("哈希块还是树", "Blocks or tree"), deeper=True)
def against() -> None:
    chapter.say("against")
    label = tr("块的大小", "Block size")
    size = int(chapter.pick("cache_block", label, CACHE_BLOCKS, start=32, unit=TOKENS))
    found = runs.found_by_second(ALIKE, OWN_TOKENS, MANY_SLOTS, size)
    chapter.draw(
        trees.found_by_length(ALIKE, *found, large=chapter.large),
        "alike",
        alt=tr(
            "横轴是两个提示词开头相同的 token 数，纵轴是命中数：树是直线，哈希块是台阶",
            "Tokens found along tokens shared: a straight line for the tree, stairs for blocks",
        ),
    )
    in_blocks, in_tree = runs.hit_rates_by_room(DOCUMENT, CACHE_SLOTS, size)
    chapter.draw(
        trees.hits_by_room(in_blocks, in_tree, large=chapter.large),
        "room",
        alt=tr(
            "横轴是 KV 槽，纵轴是命中率：槽少时哈希块还有命中，树一点也没有",
            "Hit rate along the number of slots: with few, blocks still hit and the tree does not",
        ),
    )
    chapter.leaves_out("against_leaves_out")
    chapter.say(
        "against_result",
        size=size,
        tight=TIGHT_SLOTS,
        blocks_tight=percent(in_blocks[TIGHT_SLOTS]),
        tree_tight=percent(in_tree[TIGHT_SLOTS]),
        roomy=ROOMY_SLOTS,
        blocks_roomy=percent(in_blocks[ROOMY_SLOTS]),
        tree_roomy=percent(in_tree[ROOMY_SLOTS]),
    )
    chapter.say("against_points")


@chapter.act("tenants", tr("租户与盐", "Tenants"), deeper=True)
def neighbours() -> None:
    chapter.say("tenants", documents=PROBE.num_documents, document=count(PROBE.document_tokens))
    salt = chapter.choose("salt", tr("缓存的盐", "Cache salt"), SALTS, start="none")
    setups = QUIET.serving_each(PROBE.with_each_salt())
    measured, found = runs.probed(setups), runs.summaries(setups)
    now, run = measured[salt], runs.run(setups[salt])
    chapter.cards(
        [
            Card(tr("最快的试探", "Fastest probe"), seconds(now.fastest)),
            Card(tr("最慢的试探", "Slowest probe"), seconds(now.slowest)),
            Card(tr("命中率", "Hit rate"), percent(found[salt].prefix_hit_rate)),
            Card(
                tr("要算的提示词 token", "Prompt tokens computed"),
                count(computed_tokens(run)),
            ),
        ]
    )
    chapter.draw(
        pictures.computed_and_reused(run, pictures.probe_names(), large=chapter.large),
        "probes",
        alt=tr(
            "每个请求一条：命中的一段、要算的一段和 TTFT；不加盐时 E 明显更快",
            "A bar for each request: cached, computed, and its TTFT; without a salt E is faster",
        ),
    )
    chapter.leaves_out("tenants_leaves_out")
    plain, by_tenant = measured["none"], measured["tenant"]
    chapter.say(
        "tenants_result",
        fastest=seconds(plain.fastest),
        others=seconds(plain.slowest),
        same=seconds(by_tenant.fastest),
        first_plain=seconds(plain.first),
        first_salted=seconds(by_tenant.first),
        rate_plain=percent(found["none"].prefix_hit_rate),
        rate_tenant=percent(found["tenant"].prefix_hit_rate),
        rate_request=percent(found["request"].prefix_hit_rate),
    )
    chapter.say("tenants_block")


@chapter.act("replicas", tr("多个副本", "Replicas"), deeper=True)
def behind_a_router() -> None:
    chapter.say("replicas", each=replicas.REQUESTS_EACH, prefixes=replicas.PREFIXES_EACH)
    number = int(chapter.pick("replicas", tr("副本数", "Replicas"), REPLICAS, start=8))
    rule = chapter.choose("rule", tr("怎么分配", "Routing"), RULES, start="round_robin")
    label = tr("热门前缀占", "One popular prefix")
    popular = float(chapter.choose("popular", label, POPULAR, start="0"))
    setups = BUSY.serving_each(runs.traffic_of_fleets(REPLICAS, popular))
    with chapter.waiting(tr("正在模拟这些副本……", "Simulating the replicas ...")):
        fleets = runs.fleets(setups, DRAWN_RULES)
        now = runs.fleet(setups[number], number, rule)
    chapter.cards(
        [
            Card(tr("命中率", "Hit rate"), percent(now.hit_rate)),
            Card(tr("TTFT（均值）", "TTFT, mean"), seconds(now.ttft.mean)),
            Card("TTFT p99", seconds(now.ttft.percentile(99))),
            Card(tr("最忙的副本", "Busiest replica"), fleet_pictures.times_the_mean(now.imbalance)),
        ]
    )
    chapter.draw(
        fleet_pictures.hits_by_replicas(fleets, (number, now), large=chapter.large),
        "hits",
        alt=tr(
            "横轴是副本数，纵轴是命中率，每种分配方式一条线：轮询一路下降，亲和基本不变",
            "Hit rate along the number of replicas: round robin falls, affinity stays",
        ),
    )
    chapter.draw(
        fleet_pictures.shares(now, large=chapter.large),
        "shares",
        alt=tr(
            "每个副本分到多少请求，虚线是平均",
            "How many of the requests each replica gets; the dotted line is an even share",
        ),
    )
    chapter.leaves_out(
        "replicas_leaves_out",
        prefix=count(replicas.PREFIX_TOKENS),
        difference=replicas.BALANCE_DIFFERENCE,
        ratio=replicas.BALANCE_RATIO,
    )
    if number == 1:
        chapter.say("replicas_one", rate=percent(now.hit_rate), ttft=seconds(now.ttft.mean))
    else:
        turns, sticky = fleets["round_robin"][number], fleets["affinity"][number]
        chapter.say(
            "replicas_result",
            number=number,
            turns=percent(turns.hit_rate),
            sticky=percent(sticky.hit_rate),
            turns_ttft=seconds(turns.ttft.mean),
            sticky_ttft=seconds(sticky.ttft.mean),
        )
        spread = fleets["balanced"][number]
        slow, slow_if_spread = sticky.ttft.percentile(99), spread.ttft.percentile(99)
        tails: dict[str, Any] = {
            "busiest": fleet_pictures.times_the_mean(sticky.imbalance),
            "sticky_p99": seconds(slow),
            "spread_p99": seconds(slow_if_spread),
            "spread": percent(spread.hit_rate),
        }
        if slow > slow_if_spread:
            in_turns = seconds(turns.ttft.percentile(99))
            chapter.say("replicas_balance", turns_p99=in_turns, **tails)
        else:
            chapter.say("replicas_even", **tails)
    chapter.presets(
        {
            "replicas_turns": {"replicas": 8, "rule": "round_robin", "popular": "0"},
            "replicas_sticky": {"replicas": 8, "rule": "affinity", "popular": "0"},
            "replicas_hot": {"replicas": 8, "rule": "affinity", "popular": "0.6"},
            "replicas_spread": {"replicas": 8, "rule": "balanced", "popular": "0.6"},
        }
    )


@chapter.act("check", tr("自测", "Self-check"))
def check() -> None:
    chapter.say("check")
    chapter.quiz()
    chapter.flags()


chapter.show()
