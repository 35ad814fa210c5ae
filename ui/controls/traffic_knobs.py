"""The knobs of traffic: how many requests, how long, when they come, what they share.

Each function draws controls on a chapter and gives what they stand at.
"""

from sim.engine import Users
from sim.workload import SharedPrefix
from ui.controls.chooser import Chooser
from ui.controls.traffic import Traffic
from ui.words.language import tr

RATES = (0.5, 1, 2, 3, 4, 6, 8, 10, 12, 15, 20, 30, 40)  # requests per second
NUM_USERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
THINKING = (0, 1, 2, 5, 10, 30)  # seconds
PROMPTS = (50, 100, 200, 500, 1000, 2000, 4000, 8000)  # tokens, as all lengths here
OUTPUTS = (1, 10, 50, 100, 200, 400, 600, 800, 1200)
VARIATIONS = (0.2, 0.5, 1, 2, 4, 8, 13)  # of the gaps between arrivals
GIANTS = (0, 8_000, 16_000, 32_000, 64_000, 100_000)
PREFIXES = (0, 100, 200, 500, 1000, 2000, 4000)
PREFIX_GROUPS = (1, 2, 4, 8, 16, 64)


def choose_users(chapter: Chooser) -> Users | None:
    """An open loop (None), or a closed one: so many people who think in between."""
    group = _group()
    loops = {"open": tr("开环", "open"), "closed": tr("闭环", "closed")}
    label = tr("请求从哪来", "Loop")
    if chapter.choose("loop", label, loops, start="open", group=group) == "open":
        return None
    users = chapter.pick("users", tr("用户数", "Users"), NUM_USERS, start=16, group=group)
    label = tr("思考时间", "Think time")
    thinks = chapter.pick("think", label, THINKING, start=0, unit="s", group=group)
    return Users(int(users), thinks)


def choose_rate(chapter: Chooser) -> float:
    """Requests per second."""
    label = tr("每秒到达", "Arrivals per s")
    rate: float = chapter.pick("rate", label, RATES, start=8, group=_group())
    return rate


def choose_traffic(chapter: Chooser, all_at_once: bool = True) -> Traffic:
    """All but the rate; without `all_at_once` every pattern of arrivals on offer has a rate."""
    group = _group()
    label = tr("提示词均长", "Prompt tokens")
    prompt = chapter.pick("prompt", label, PROMPTS, start=500, group=group)
    label = tr("输出均长", "Output tokens")
    output = chapter.pick("output", label, OUTPUTS, start=200, group=group)
    label = tr("请求数", "Requests")
    num_requests = chapter.slide("requests", label, 1, 1000, start=240, group=group)
    label = tr("长度差异（p99 ÷ 均值）", "Length spread (p99 ÷ mean)")
    spread = chapter.slide("spread", label, 1.0, 12.0, start=4.0, step=0.5, group=group)
    arrival, variation = _choose_arrivals(chapter, all_at_once)
    label = tr("夹一个巨型提示词", "One giant prompt")
    giant = chapter.pick("giant", label, GIANTS, start=0, group=group)
    seed = chapter.number("seed", tr("随机种子", "Random seed"), 0, 9999, start=0, group=group)
    return Traffic(
        num_requests,
        prompt,
        output,
        spread,
        arrival,
        variation,
        int(giant),
        choose_prefix(chapter),
        seed,
    )


def _choose_arrivals(chapter: Chooser, all_at_once: bool) -> tuple[str, float]:
    """The pattern, and how uneven its gaps are."""
    names = {
        "poisson": tr("泊松", "Poisson"),
        "constant": tr("匀速", "constant"),
        "gamma": tr("伽马", "gamma"),
        "burst": tr("成批", "bursts"),
    } | ({"once": tr("同时", "at once")} if all_at_once else {})
    label = tr("到达方式", "Arrivals")
    arrival = chapter.choose("arrival", label, names, start="poisson", group=_group())
    if arrival != "gamma":
        return arrival, 1.0
    label = tr("间隔的变异系数", "CV of the gaps")
    return arrival, chapter.pick("cv", label, VARIATIONS, start=4, group=_group())


def choose_prefix(chapter: Chooser) -> SharedPrefix | None:
    """What prompts begin with in common, if anything."""
    group = "08_prefix_cache"
    label = tr("共享前缀", "Shared prefix")
    tokens = chapter.pick("prefix", label, PREFIXES, start=0, group=group)
    if not tokens:
        return None
    label = tr("几种前缀", "Different prefixes")
    groups = chapter.pick("groups", label, PREFIX_GROUPS, start=1, group=group)
    return SharedPrefix(int(tokens), int(groups))


def _group() -> str:
    """What is no other chapter's stands under these words."""
    return tr("流量", "Traffic")
