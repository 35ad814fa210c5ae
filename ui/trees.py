"""Pictures of the radix tree: its server step by step, and what other orders and caches find.

They read results of `sim`; nothing here decides or measures anything.
"""

from collections.abc import Iterator, Mapping, Sequence

import plotly.graph_objects as go

from sim.events import NodeEvicted, NodeInserted
from sim.kv.radix import RadixTree
from sim.prompts import Prompt, Tokens
from sim.tree_server import NodeState, Served, TreeStep
from ui import charts, pictures, theme, tree_notes
from ui.charts import Dash, Series
from ui.language import tr
from ui.numbers import in_percent
from ui.painters.tree import Bar, Moment, Tree

GROWN = {"compute": "prefill", "finish": "decode"}  # what a new leaf is made of


BLOCKS, TREE = 0, 1  # colours of the two caches

TEACHER = ("你 是 耐心 的 老师 。", "You are a patient teacher .")
TRANSLATOR = ("把 这句 译成 英文 ：", "Translate this into French :")
QUEUE = (  # which role, what is asked, what is answered; word for word alike in both languages
    (TEACHER, ("什么 是 分页 ？", "What is paging ?"), ("把 KV 切块", "KV in blocks")),
    (TRANSLATOR, ("早上 好", "Good morning"), ("Good morning", "Bonjour !")),
    (TEACHER, ("什么 是 批处理 ？", "What is batching ?"), ("一起 算", "computed together")),
    (TRANSLATOR, ("早上 见", "Good night"), ("See you", "Bonne nuit")),
    (TEACHER, ("为何 排队 ？", "Why queue ?"), ("显存 满 了", "memory is full")),
    (TRANSLATOR, ("谢谢 你", "Thank you"), ("Thank you", "Merci bien")),
)
NEXT_TURN = (("举 个 例子", "Give an example"), ("像 操作系统", "Like OSes"))  # of the first


def queue() -> tuple[Prompt, ...]:
    """A teacher and a translator, asked by turns, and the next turn of the first chat.

    A token is a word; the prompts branch at the same places in either language.
    """
    asked = [
        Prompt(_words(*role) + _words(*question), _words(*answer))
        for role, question, answer in QUEUE
    ]
    question, answer = NEXT_TURN
    return (*asked, Prompt(asked[0].spoken + _words(*question), _words(*answer)))


def _words(zh: str, en: str) -> Tokens:
    return tuple(tr(zh, en).split())


# -- step by step -------------------------------------------------------------------------------


def tree_frames(served: Served, prompts: Sequence[Prompt], num_slots: int, alt: str) -> Tree:
    """A frame for each step of the server."""
    lanes = _lanes(prompts)
    before = (served.steps[0], *served.steps)
    pairs = zip(served.steps, before, strict=False)
    return Tree(
        lanes=tuple(tuple(str(token) for token in lane) for lane in lanes),
        moments=tuple(_moment(step, last, prompts, lanes) for step, last in pairs),
        requests=tuple(theme.request_letter(who) for who in range(len(prompts))),
        num_slots=num_slots,
        notes=tuple(tree_notes.step_note(step, prompts) for step in served.steps),
        events=tuple(tree_notes.kinds(step) for step in served.steps),
        alt=alt,
        times=tuple(_found_so_far(served)),
    )


def _found_so_far(served: Served) -> Iterator[str]:
    found, total = 0, served.num_prompt_tokens
    for step in served.steps:
        if step.action == "compute" and step.who is not None:
            found += served.hits[step.who]
        yield tr(f"命中 {found} / {total} 个 token", f"{found} of {total} tokens found")


def _lanes(prompts: Sequence[Prompt]) -> tuple[Tokens, ...]:
    """Every way through a tree that keeps all requests; what begins alike stands together.

    They follow from the requests alone, so a lane means the same in every run.
    """
    everything = RadixTree()
    for prompt in prompts:
        everything.insert(prompt.spoken, range(len(prompt.spoken)))
    paths: dict[int, Tokens] = {everything.root.id: ()}
    for node in everything.nodes():
        if node.parent is not None:
            paths[node.id] = paths[node.parent.id] + node.key
    return tuple(paths[node.id] for node in everything.nodes() if not node.children)


def _lane_of(path: Tokens, lanes: Sequence[Tokens]) -> int:
    """The first lane that begins so; -1 for the root."""
    if not path:
        return -1
    return next(number for number, lane in enumerate(lanes) if lane[: len(path)] == path)


def _moment(
    step: TreeStep, last: TreeStep, prompts: Sequence[Prompt], lanes: Sequence[Tokens]
) -> Moment:
    ranks = {node.id: rank for rank, node in enumerate(step.next_to_go(), start=1)}
    known = _path_found(step, prompts)
    grown = {event.node_id for event in step.events if isinstance(event, NodeInserted)}
    gone = {event.node_id for event in step.events if isinstance(event, NodeEvicted)}
    bars = []
    for node in step.nodes:
        if node.id in grown:
            state = GROWN[step.action]
        elif known[: len(node.path)] == node.path:
            state = "cached"
        else:
            state = "locked" if node.lock_count else "evictable"
        bars.append(_bar(node, state, lanes, node.lock_count, ranks.get(node.id, 0)))
    bars += [_bar(node, "evicted", lanes) for node in last.nodes if node.id in gone]
    if step.action in ("look_up", "refuse", "evict") and step.who is not None:
        bars.append(_missing(step, prompts[step.who], lanes))
    locked = sum(len(node.path) - node.start for node in step.nodes if node.lock_count)
    return Moment(
        tuple(bars),
        step.running,
        step.waiting,
        owners=tuple(
            (_lane_of(prompts[who].tokens, lanes), len(prompts[who].tokens), who)
            for who in step.running
        ),
        num_locked=locked + step.num_own_slots,
        num_evictable=step.num_tree_slots - locked,
    )


def _end_of(prompt: Prompt, lanes: Sequence[Tokens]) -> tuple[int, int]:
    """The lane in which a prompt ends, and after how many tokens."""
    return _lane_of(prompt.tokens, lanes), len(prompt.tokens)


def _path_found(step: TreeStep, prompts: Sequence[Prompt]) -> Tokens:
    """What was looked up and found: by the request in question, or by whoever goes first."""
    if not step.found:
        return ()
    who = step.who if step.who is not None else step.waiting[0]
    return prompts[who].tokens[: dict(step.found)[who]]


def _bar(
    node: NodeState, state: str, lanes: Sequence[Tokens], locks: int = 0, rank: int = 0
) -> Bar:
    above, lane = _lane_of(node.path[: node.start], lanes), _lane_of(node.path, lanes)
    return Bar(lane, node.start, len(node.path), state, above, locks, rank)


def _missing(step: TreeStep, prompt: Prompt, lanes: Sequence[Tokens]) -> Bar:
    """The part of a prompt that is not in the tree yet, where it will hang."""
    paths = {node.path for node in step.nodes}
    start = max((len(path) for path in paths if prompt.tokens[: len(path)] == path), default=0)
    above = _lane_of(prompt.tokens[:start], lanes)
    return Bar(_lane_of(prompt.tokens, lanes), start, len(prompt.tokens), "missing", above)


# -- over a setting -----------------------------------------------------------------------------


def found_by_order(
    found: Mapping[str, Mapping[int, int]], here: tuple[int, int], large: bool = False
) -> go.Figure:
    """Tokens found with each order of the queue, along the number of KV slots."""
    dashes: tuple[Dash, ...] = ("solid", "dash")
    series = [
        Series(name, list(points), list(points.values()), colour, dash)
        for (name, points), colour, dash in zip(found.items(), (0, 1), dashes, strict=True)
    ]
    figure = charts.lines(
        series,
        tr("KV 槽", "KV slots"),
        pictures.keyed(tr("命中的 token", "tokens found"), series),
        large=large,
        name_ends=False,
        height=190,
    )
    figure.update_yaxes(rangemode="tozero")
    return charts.mark_point(figure, *here, tr("现在", "now"), large)


def found_by_length(
    lengths: Sequence[int], in_blocks: Sequence[int], in_tree: Sequence[int], large: bool = False
) -> go.Figure:
    """Tokens that one prompt finds, along how many it shares with the one before."""
    series = [
        Series(tr("哈希块", "hashed blocks"), lengths, in_blocks, BLOCKS, step=True),
        Series(tr("基数树", "radix tree"), lengths, in_tree, TREE, "dash"),
    ]
    return charts.lines(
        series,
        tr("开头相同的 token", "tokens that begin alike"),
        pictures.keyed(tr("命中的 token", "tokens found"), series),
        large=large,
        name_ends=False,
        height=230,
    )


def hits_by_room(
    room: Sequence[int], in_blocks: Sequence[float], in_tree: Sequence[float], large: bool = False
) -> go.Figure:
    """Share of all prompt tokens that are found, along how many slots the cache has."""
    series = [
        Series(tr("哈希块", "hashed blocks"), room, [in_percent(x) for x in in_blocks], BLOCKS),
        Series(tr("基数树", "radix tree"), room, [in_percent(x) for x in in_tree], TREE, "dash"),
    ]
    return charts.lines(
        series,
        tr("KV 槽", "KV slots"),
        pictures.keyed(tr("命中率（%）", "hit rate (%)"), series),
        large=large,
        name_ends=False,
        y_range=(-2, 100),
        height=230,
    )
