"""Pictures of the radix tree: its server step by step, and what other orders and caches find.

They read results of `sim`; nothing here decides or measures anything.
"""

from collections.abc import Iterator, Mapping, Sequence

from sim.events import NodeEvicted, NodeInserted, NodeSplit
from sim.kv.radix import RadixTree
from sim.studies.tree_server import NodeState, Served, TreeStep
from sim.workload.prompts import Prompt, Tokens
from ui import charts, theme
from ui.charts import Dash, Series, go
from ui.player.painters.tree import ROOT, Tree, TreeBar, TreeMoment
from ui.subjects.prefix import tree_notes
from ui.words.language import tr
from ui.words.numbers import in_percent

GROWN = {"compute": "prefill", "finish": "decode"}  # what a new leaf is made of


BLOCKS, TREE = 0, 1  # colours of the two caches
AIR = 1.3  # above the highest curve, for the mark's name
SOLID: Dash = "solid"
DASHED: Dash = "dash"

TUTOR = ("你 是 耐心 的 老师 。", "You are a kind tutor .")
TRANSLATOR = ("把 这句 译成 英文 ：", "Translate this into French :")
QUEUE = (  # which role, what is asked, what is answered; word for word alike in both languages
    (TUTOR, ("什么 是 分页 ？", "What is paging ?"), ("把 KV 切块", "KV in blocks")),
    (TRANSLATOR, ("早上 好", "Good morning"), ("Good morning", "Bonjour !")),
    (TUTOR, ("什么 是 批处理 ？", "What is batching ?"), ("一起 算", "computed together")),
    (TRANSLATOR, ("早上 见", "Good night"), ("See you", "Bonne nuit")),
    (TUTOR, ("为何 排队 ？", "Why queue ?"), ("显存 满 了", "memory is full")),
    (TRANSLATOR, ("谢谢 你", "Thank you"), ("Thank you", "Merci bien")),
)
NEXT_TURN = (("举 个 例子", "For example ?"), ("像 操作系统", "Like OSes"))  # of the first


def queue() -> tuple[Prompt, ...]:
    """A tutor and a translator, asked by turns, and the next turn of the first chat.

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


def order_names() -> dict[str, str]:
    """In what order the queue goes (`sim.studies.tree_server.ORDERS`)."""
    return {
        "fcfs": tr("先来先服务", "First come"),
        "lpm": tr("最长前缀优先", "Longest prefix"),
    }


def tree_frames(served: Served, prompts: Sequence[Prompt], num_slots: int, alt: str) -> Tree:
    """A frame for each step of the server."""
    lanes = _Lanes(prompts)
    before = (served.steps[0], *served.steps)
    pairs = zip(served.steps, before, strict=False)
    return Tree(
        lanes=tuple(tuple(str(token) for token in lane) for lane in lanes.texts),
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


class _Lanes:
    """Where each node stands.  A new leaf goes into the lane of its text; the front half of a node
    that is cut in two stays in the lane of the other half.  So nothing ever moves.

    `texts`: every way through a tree that keeps all requests; what begins alike stands together.
    They follow from the requests alone, so a lane means the same in every run.
    """

    def __init__(self, prompts: Sequence[Prompt]):
        everything = RadixTree()
        for prompt in prompts:
            everything.insert(prompt.spoken, range(len(prompt.spoken)))
        paths: dict[int, Tokens] = {everything.root.id: ()}
        for node in everything.nodes():
            if node.parent is not None:
                paths[node.id] = paths[node.parent.id] + node.key
        self.texts = tuple(paths[node.id] for node in everything.nodes() if not node.children)
        self._of_node: dict[int, int] = {}
        self._of_path: dict[Tokens, int] = {(): ROOT}

    def follow(self, step: TreeStep) -> None:
        """Take in what a step has added and cut."""
        paths = {node.id: node.path for node in step.nodes}
        for event in step.events:
            if isinstance(event, NodeInserted):
                self._of_node[event.node_id] = self._of_text(paths[event.node_id])
            elif isinstance(event, NodeSplit):
                self._of_node[event.front_id] = self._of_node[event.tail_id]
        self._of_path = {path: self._of_node[node] for node, path in paths.items()} | {(): ROOT}

    def of(self, path: Tokens) -> int:
        """The lane in which these tokens, counted from the root, end."""
        known = self._of_path.get(path)
        return self._of_text(path) if known is None else known

    def _of_text(self, path: Tokens) -> int:
        """The first lane that begins so."""
        begins = (text[: len(path)] == path for text in self.texts)
        return next(lane for lane, does in enumerate(begins) if does)


def _moment(step: TreeStep, last: TreeStep, prompts: Sequence[Prompt], lanes: _Lanes) -> TreeMoment:
    gone = {event.node_id for event in step.events if isinstance(event, NodeEvicted)}
    bars = [_bar(node, "evicted", lanes) for node in last.nodes if node.id in gone]
    lanes.follow(step)
    ranks = {node.id: rank for rank, node in enumerate(step.next_to_go(), start=1)}
    known = _path_found(step, prompts)
    grown = {event.node_id for event in step.events if isinstance(event, NodeInserted)}
    for node in step.nodes:
        if node.id in grown:
            state = GROWN[step.action]
        elif known[: len(node.path)] == node.path:
            state = "cached"
        else:
            state = "locked" if node.lock_count else "evictable"
        bars.append(_bar(node, state, lanes, node.lock_count, ranks.get(node.id, 0)))
    if step.action in ("look_up", "refuse", "evict") and step.who is not None:
        bars.append(_missing(step, prompts[step.who], lanes))
    locked = sum(len(node.path) - node.start for node in step.nodes if node.lock_count)
    running = ((prompts[who].tokens, who) for who in step.running)
    return TreeMoment(
        tuple(bars),
        step.running,
        step.waiting,
        owners=tuple((lanes.of(tokens), len(tokens), who) for tokens, who in running),
        num_locked=locked + step.num_own_slots,
        num_evictable=step.num_tree_slots - locked,
    )


def _path_found(step: TreeStep, prompts: Sequence[Prompt]) -> Tokens:
    """What was looked up and found: by the request in question, or by whoever goes first."""
    if not step.found:
        return ()
    who = step.who if step.who is not None else step.waiting[0]
    return prompts[who].tokens[: dict(step.found)[who]]


def _bar(node: NodeState, state: str, lanes: _Lanes, locks: int = 0, rank: int = 0) -> TreeBar:
    above, lane = lanes.of(node.path[: node.start]), lanes.of(node.path)
    return TreeBar(lane, node.start, len(node.path), state, above, locks, rank)


def _missing(step: TreeStep, prompt: Prompt, lanes: _Lanes) -> TreeBar:
    """The part of a prompt that is not in the tree yet, where it will hang."""
    tokens = prompt.tokens
    known = (node.path for node in step.nodes if tokens[: len(node.path)] == node.path)
    start = max(map(len, known), default=0)
    return TreeBar(lanes.of(tokens), start, len(tokens), "missing", lanes.of(tokens[:start]))


# -- over a setting -----------------------------------------------------------------------------


def found_by_order(
    found: Mapping[str, Mapping[int, int]], here: tuple[int, int], large: bool = False
) -> go.Figure:
    """Tokens found with each order of the queue, along the number of KV slots."""
    names = order_names()
    series = [
        Series(names[order], list(points), list(points.values()), colour, dash)
        for (order, points), colour, dash in zip(
            found.items(), (0, 1), (SOLID, DASHED), strict=True
        )
    ]
    figure = charts.lines(
        series,
        tr("KV 槽", "KV slots"),
        charts.keyed(tr("命中的 token", "tokens found"), series),
        large=large,
        y_range=(0, AIR * max(max(one.y) for one in series)),
        name_ends=False,
        height=190,
    )
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
        charts.keyed(tr("命中的 token", "tokens found"), series),
        large=large,
        name_ends=False,
        height=230,
    )


def hits_by_room(
    in_blocks: Mapping[int, float], in_tree: Mapping[int, float], large: bool = False
) -> go.Figure:
    """Share of all prompt tokens that are found, along how many slots the cache has."""
    series = [
        Series(name, list(rates), [in_percent(rate) for rate in rates.values()], colour, dash)
        for name, rates, colour, dash in (
            (tr("哈希块", "hashed blocks"), in_blocks, BLOCKS, SOLID),
            (tr("基数树", "radix tree"), in_tree, TREE, DASHED),
        )
    ]
    return charts.lines(
        series,
        tr("KV 槽", "KV slots"),
        charts.keyed(tr("命中率（%）", "hit rate (%)"), series),
        large=large,
        name_ends=False,
        y_range=(-2, 100),
        height=230,
    )
