"""A small server that keeps its KV in a radix tree: who looks up, locks, computes, evicts, when.

The tree alone (`kv.radix`) knows nothing of requests.  Each request is looked up, its
prefix is locked, leaves are evicted until the rest has room, the prompt is computed and hung into
the tree at once, so that others may share it while it still runs; when the answer is written it
follows, and the lock goes.  Time is left out: a step is one such action, and whoever has run
longest finishes first.

Source: SGLang 0.5.23, `managers/schedule_policy.py` (order of the queue), `mem_cache/
radix_cache.py` (`cache_unfinished_req`, `cache_finished_req`).
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sim.errors import require
from sim.events import TreeEvent
from sim.kv.radix import Node, RadixTree, longest_prefix_order
from sim.workload.prompts import Prompt, Tokens

ORDERS = ("fcfs", "lpm")  # first come, first served; longest cached prefix first
Action = Literal["begin", "sort", "look_up", "refuse", "evict", "compute", "finish"]


@dataclass(frozen=True)
class NodeState:
    """A node of the tree after a step: it holds `path[start:]`, `path` being all from the root."""

    id: int
    path: Tokens
    start: int
    lock_count: int
    last_access: int
    is_leaf: bool


@dataclass(frozen=True)
class TreeStep:
    """One action of the server, and what stands where after it.

    `who`: the request it is about, by position.  `found`: cached tokens of `who`; when the queue is
    sorted, of everybody in it.  `num_own_slots`: held by running requests outside the tree.
    """

    action: Action
    who: int | None
    nodes: tuple[NodeState, ...]
    waiting: tuple[int, ...]
    running: tuple[int, ...]
    num_own_slots: int
    events: tuple[TreeEvent, ...] = ()
    found: tuple[tuple[int, int], ...] = ()  # (request, cached tokens)

    @property
    def num_tree_slots(self) -> int:
        return sum(len(node.path) - node.start for node in self.nodes)

    def next_to_go(self) -> tuple[NodeState, ...]:
        """The leaves that may be evicted now, the first one to go first."""
        leaves = [node for node in self.nodes if node.is_leaf and node.lock_count == 0]
        return tuple(sorted(leaves, key=lambda node: (node.last_access, node.id)))


@dataclass(frozen=True)
class Served:
    """All steps of a run, and for each request how many tokens of its prompt were found."""

    steps: tuple[TreeStep, ...]
    hits: tuple[int, ...]  # [num_requests] tokens
    order: tuple[int, ...]  # who was computed, one after the other
    num_prompt_tokens: int
    num_evicted_tokens: int

    @property
    def num_hit_tokens(self) -> int:
        return sum(self.hits)

    def place_of(self, who: int) -> int:
        """As which one a request was served, from 1 on."""
        return self.order.index(who) + 1


def serve(
    prompts: Sequence[Prompt], num_slots: int, order: str = "fcfs", max_running: int = 2
) -> Served:
    """Serve prompts that all wait from the start; only the next turn of a chat comes later, when
    the answer that it repeats is written.

    Raises:
        SimError: `slots_too_few` if a request cannot fit even alone; `order_unknown`.
    """
    require(order in ORDERS, "order_unknown", value=order)
    needed = least_slots(prompts)
    require(needed <= num_slots, "slots_too_few", needed=needed, num_slots=num_slots)
    server = _Server(prompts, num_slots, order, max_running)
    while server.waiting or server.running:
        if not server.start_one():
            server.finish_one()
    return server.served()


def least_slots(prompts: Sequence[Prompt]) -> int:
    """As many slots as the longest request needs."""
    return max(len(prompt.spoken) for prompt in prompts)


def turn_before(who: int, prompts: Sequence[Prompt]) -> int | None:
    """Whose answer a prompt repeats: the longest other text that it begins with."""
    tokens = prompts[who].tokens
    repeated = [
        (len(other.spoken), number)
        for number, other in enumerate(prompts)
        if tokens[: len(other.spoken)] == other.spoken
    ]
    return max(repeated)[1] if repeated else None


# -- inside -----------------------------------------------------------------------------------


@dataclass
class _Running:
    who: int
    node: Node  # where what it uses of the tree ends
    slots: list[int]  # of its tokens, the tree's first


class _Server:
    """The server while it works; what it did is in `steps`."""

    def __init__(self, prompts: Sequence[Prompt], num_slots: int, order: str, max_running: int):
        self.prompts, self.order, self.max_running = prompts, order, max_running
        self.turns = [turn_before(who, prompts) for who in range(len(prompts))]
        self.num_slots = num_slots
        self.tree = RadixTree()
        self.free = deque(range(num_slots))
        self.waiting = [who for who, before in enumerate(self.turns) if before is None]
        self.running: list[_Running] = []
        self.steps: list[TreeStep] = []
        self.hits = [0] * len(prompts)
        self.started: list[int] = []
        self.num_evicted_tokens = 0
        self._note("begin", None)

    def start_one(self) -> bool:
        """Take the next request into the batch; False if nobody waits, or nobody fits."""
        if not self.waiting or len(self.running) == self.max_running:
            return False
        if self.order == "lpm" and len(self.waiting) > 1:
            self._sort()
        who = self.waiting[0]
        prompt = self.prompts[who]
        match = self.tree.match(prompt.tokens[:-1])  # the last token's logits are needed
        self.tree.lock(match.node)
        missing = len(prompt.spoken) - match.num_tokens
        has_room = missing <= len(self.free) + self.tree.num_evictable_tokens
        if not has_room:
            self.tree.unlock(match.node)
            self._note("refuse", who, ((who, match.num_tokens),))
            return False
        self.waiting.pop(0)
        self.running.append(_Running(who, match.node, list(match.slots)))
        self._note("look_up", who, ((who, match.num_tokens),))
        while missing > len(self.free):  # leaf by leaf, so that each can be seen
            freed = self.tree.evict(1)
            self.free.extend(freed)
            self.num_evicted_tokens += len(freed)
            self._note("evict", who)
        self.hits[who] = match.num_tokens
        self.started.append(who)
        self.running[-1].slots += [self.free.popleft() for _ in range(missing)]
        self._keep(self.running[-1], len(prompt.tokens))
        self._note("compute", who)
        return True

    def finish_one(self) -> None:
        """The one that has run longest has written its answer: keep it, and take the lock back."""
        done = self.running.pop(0)
        self._keep(done, len(self.prompts[done.who].spoken))
        self.tree.unlock(done.node)
        self.waiting += [who for who, before in enumerate(self.turns) if before == done.who]
        self._note("finish", done.who)

    def _keep(self, request: _Running, num_tokens: int) -> None:
        """Hang the first tokens into the tree; the lock moves on to where they end."""
        tokens = self.prompts[request.who].spoken[:num_tokens]
        known = self.tree.insert(tokens, request.slots[:num_tokens])
        match = self.tree.match(tokens)
        ours, theirs = request.slots[:known], match.slots[:known]
        twice = [one for one, other in zip(ours, theirs, strict=True) if one != other]
        self.free.extend(twice)  # somebody computed the same meanwhile; the tree keeps theirs
        request.slots[:num_tokens] = match.slots
        self.tree.lock(match.node)
        self.tree.unlock(request.node)
        request.node = match.node

    def _sort(self) -> None:
        prompts = [self.prompts[who].tokens[:-1] for who in self.waiting]
        found = [self.tree.match(prompt).num_tokens for prompt in prompts]
        looked_up = tuple(zip(self.waiting, found, strict=True))
        self.waiting = [self.waiting[at] for at in longest_prefix_order(self.tree, prompts)]
        self._note("sort", None, looked_up)

    def _note(
        self, action: Action, who: int | None, found: tuple[tuple[int, int], ...] = ()
    ) -> None:
        outside = self.num_slots - len(self.free) - self.tree.num_tokens
        self.steps.append(
            TreeStep(
                action,
                who,
                nodes=tuple(_states(self.tree)),
                waiting=tuple(self.waiting),
                running=tuple(request.who for request in self.running),
                num_own_slots=outside,
                events=tuple(self.tree.events),
                found=found,
            )
        )
        self.tree.events.clear()

    def served(self) -> Served:
        return Served(
            tuple(self.steps),
            tuple(self.hits),
            tuple(self.started),
            sum(len(prompt.tokens) for prompt in self.prompts),
            self.num_evicted_tokens,
        )


def _states(tree: RadixTree) -> Iterator[NodeState]:
    paths: dict[int, Tokens] = {tree.root.id: ()}
    for node in tree.nodes():
        if node.parent is None:
            continue
        above = paths[node.parent.id]
        paths[node.id] = above + node.key
        yield NodeState(
            node.id,
            paths[node.id],
            len(above),
            node.lock_count,
            node.last_access,
            is_leaf=not node.children,
        )
