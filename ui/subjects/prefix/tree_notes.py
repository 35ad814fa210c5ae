"""The radix tree in words: one function per event, and one sentence per step of its server."""

from collections.abc import Callable, Sequence

from sim import events
from sim.studies.tree_server import TreeStep, turn_before
from sim.workload.prompts import Prompt
from ui.words.language import tr
from ui.words.notes import names


def prefix_hit(event: events.PrefixHit) -> str:
    return tr(f"查到 {event.num_tokens} 个 token", f"{_tokens(event.num_tokens)} found")


def node_split(event: events.NodeSplit) -> str:
    return tr(
        f"一个节点在第 {event.num_tokens} 个 token 之后切成两段",
        f"a node is cut in two after {_tokens(event.num_tokens)}",
    )


def node_inserted(event: events.NodeInserted) -> str:
    return tr(f"新叶子有 {event.num_tokens} 个 token", f"new leaf of {_tokens(event.num_tokens)}")


def node_evicted(event: events.NodeEvicted) -> str:
    return tr(
        f"最久没用的叶子整片淘汰，腾出 {event.num_tokens} 个",
        f"the least recently used leaf is evicted whole and frees {event.num_tokens}",
    )


WORDS: dict[type, Callable[..., str]] = {
    events.PrefixHit: prefix_hit,
    events.NodeSplit: node_split,
    events.NodeInserted: node_inserted,
    events.NodeEvicted: node_evicted,
}

# Events at which a player stops, by the names it knows them under.
KINDS: dict[type, str] = {events.NodeSplit: "node_split", events.NodeEvicted: "node_evicted"}


def step_note(step: TreeStep, prompts: Sequence[Prompt]) -> str:
    """What the server has just done to whom, and what became of the tree."""
    told = [_action(step, prompts)]
    told += [WORDS[type(event)](event) for event in step.events if type(event) in KINDS]
    return tr("；".join(dict.fromkeys(told)) + "。", _sentence("; ".join(dict.fromkeys(told))))


def kinds(step: TreeStep) -> tuple[str, ...]:
    happened = (KINDS[type(event)] for event in step.events if type(event) in KINDS)
    return tuple(dict.fromkeys(happened))


def _action(step: TreeStep, prompts: Sequence[Prompt]) -> str:
    if step.who is None:
        return _sorted(step) if step.action == "sort" else _begin(step, prompts)
    who, prompt = names([step.who]), prompts[step.who]
    found = dict(step.found).get(step.who, 0)
    rest = len(prompt.tokens) - found
    match step.action:
        case "look_up" if found:
            return tr(
                f"{who} 查到 {found} 个 token，把这条路锁住，还要算 {rest} 个",
                f"{who} finds {_tokens(found)} and locks them; {rest} more to compute",
            )
        case "look_up":
            return tr(
                f"{who} 一个也没查到，{rest} 个 token 都要算",
                f"{who} finds nothing; {_tokens(rest)} to compute",
            )
        case "refuse":
            return tr(
                f"{who} 放不下：没锁的全淘汰也不够，等有人写完",
                f"{who} does not fit, even with all unlocked leaves gone; it waits",
            )
        case "evict":
            return tr(f"{who} 的槽不够", f"{who} needs more slots")
        case "compute":
            return tr(
                f"{who} 的提示词算好了，马上挂进树里，后来的就能用",
                f"{who}'s prompt is computed and at once in the tree, for others to find",
            )
    return tr(
        f"{who} 写完：答案的 {len(prompt.answer)} 个 token 也留在树里，锁放开",
        f"{who} is done: the {_tokens(len(prompt.answer))} of its answer stay, its lock goes",
    )


def _begin(step: TreeStep, prompts: Sequence[Prompt]) -> str:
    turns = [(who, turn_before(who, prompts)) for who in range(len(prompts))]
    later = [
        tr(
            f"{names([who])} 是 {names([before])} 的下一轮，等它写完才来",
            f"{names([who])}, the next turn of {names([before])}, comes when that is done",
        )
        for who, before in turns
        if before is not None
    ]
    waiting = len(step.waiting)
    first = tr(f"{waiting} 个请求在排队，树是空的", f"{waiting} requests wait; the tree is empty")
    return tr("；", "; ").join([first, *later])


def _sorted(step: TreeStep) -> str:
    listed = tr("、", ", ").join(f"{names([who])} {found}" for who, found in step.found)
    first = names(step.waiting[:1])
    return tr(
        f"排队的都查一遍（{listed}）：{first} 先来",
        f"the whole queue is looked up ({listed}): {first} goes first",
    )


def _tokens(number: int) -> str:
    return f"{number} token" if number == 1 else f"{number} tokens"


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:] + "."
