"""The radix tree: cached prefixes as a tree, so that whatever begins alike is kept once.

What hashed blocks (`paged`) lacked: a tree shares down to the page, at page size 1 to the token,
needs no hash, and sees which prefix everybody shares.  A node is a run of tokens and the KV slots
that hold their K and V.  Looking a prompt up may cut a node in two, so that the match ends where a
node ends.  A node that a running request uses is locked, with everything above it; of the rest,
leaves are evicted whole, the least recently used first.

Source: Zheng et al. 2024 (SGLang), section 3, RadixAttention; details as in SGLang 0.5.23
(`python/sglang/srt/mem_cache/radix_cache.py`), to whose records `sim.replay` holds this file.
"""

import heapq
from collections.abc import Hashable, Iterator
from collections.abc import Sequence as Row
from dataclasses import dataclass, field
from itertools import count

from sim.errors import require
from sim.events import NodeEvicted, NodeInserted, NodeSplit, PrefixHit, TreeEvent

LONGEST_SORTED_QUEUE = 128  # matching every waiting prompt costs time; SGLang stops here

Tokens = tuple[Hashable, ...]


@dataclass(eq=False)
class Node:
    """A run of cached tokens below those of its parent.

    `slots`: the KV slot of each token of `key`.  `children` by the first page of their key.
    `lock_count`: how many locks hold this node or one below it.  `hit_count`: inserts that came
    through.  `last_access` counts ticks of the tree.
    """

    id: int
    key: Tokens
    slots: tuple[int, ...]
    parent: "Node | None"
    last_access: int
    lock_count: int = 0
    hit_count: int = 0
    children: "dict[Tokens, Node]" = field(default_factory=dict)


@dataclass(frozen=True)
class Match:
    """The longest cached prefix: its KV slots, and the node at which it ends."""

    slots: tuple[int, ...]
    node: Node

    @property
    def num_tokens(self) -> int:
        return len(self.slots)


class RadixTree:
    """The tree while it is in use.  `events` collects what happened since it was last cleared.

    Only whole pages are kept and found.  The root is empty and locked for ever.

    Raises:
        SimError: `page_size_below_one`.
    """

    def __init__(self, page_size: int = 1):
        require(page_size >= 1, "page_size_below_one", page_size=page_size)
        self.page_size = page_size
        self.num_evictable_tokens = 0
        self.num_protected_tokens = 0  # in locked nodes
        self.events: list[TreeEvent] = []
        self._ids = count()
        self._ticks = count()
        self.root = self._new_node((), (), None, lock_count=1)

    # -- looking ----------------------------------------------------------------------------

    @property
    def num_tokens(self) -> int:
        return self.num_evictable_tokens + self.num_protected_tokens

    def nodes(self) -> Iterator[Node]:
        """Every node, a parent before its children, these in order of creation of their branch."""
        ahead = [self.root]
        while ahead:
            node = ahead.pop()
            yield node
            ahead.extend(reversed(node.children.values()))

    def match(self, tokens: Row[Hashable]) -> Match:
        """The longest cached prefix, in whole pages.  It counts as used now.

        At least one token of a prompt must be computed, since its logits are needed: a server asks
        for `prompt[:-1]`.
        """
        path = self._descend(self._whole_pages(tokens))
        node = path[-1] if path else self.root
        found = Match(tuple(slot for step in path for slot in step.slots), node)
        if path:
            self.events.append(PrefixHit(node.id, found.num_tokens))
        return found

    # -- keeping ----------------------------------------------------------------------------

    def insert(self, tokens: Row[Hashable], slots: Row[int]) -> int:
        """Keep the tokens of a request, whose K and V are in `slots`, one per token.

        Returns how many of the first tokens were there already.  The tree keeps its own slots for
        those; the caller frees its duplicates, and the slots beyond the last whole page.

        Raises:
            SimError: `slots_do_not_match_tokens`.
        """
        require(
            len(tokens) == len(slots),
            "slots_do_not_match_tokens",
            num_tokens=len(tokens),
            num_slots=len(slots),
        )
        key = self._whole_pages(tokens)
        path = self._descend(key)
        for node in path:
            node.hit_count += 1
        known = sum(len(node.key) for node in path)
        if known < len(key):
            parent = path[-1] if path else self.root
            kept = tuple(slots[known : len(key)])
            leaf = self._new_node(key[known:], kept, parent, hit_count=1)
            self.num_evictable_tokens += len(leaf.key)
            self.events.append(NodeInserted(leaf.id, parent.id, len(leaf.key)))
        return known

    def lock(self, node: Node) -> None:
        """A running request uses this prefix: neither it nor anything above it may be evicted."""
        for step in self._up_from(node):
            if step.lock_count == 0:
                self.num_evictable_tokens -= len(step.key)
                self.num_protected_tokens += len(step.key)
            step.lock_count += 1

    def unlock(self, node: Node) -> None:
        """Take one lock back.

        Raises:
            SimError: `node_not_locked`.
        """
        require(node.lock_count >= 1, "node_not_locked", node_id=node.id)
        for step in self._up_from(node):
            step.lock_count -= 1
            if step.lock_count == 0:
                self.num_protected_tokens -= len(step.key)
                self.num_evictable_tokens += len(step.key)

    def evict(self, num_tokens: int) -> list[int]:
        """Drop unlocked leaves, least recently used first, until `num_tokens` slots are free.

        Leaves go whole, so it may free more; it frees less when everything else is locked.  A
        parent that is left without children is a leaf, too.  Returns the slots, in order.
        """
        leaves = [
            (node.last_access, node.id, node)
            for node in self.nodes()
            if not node.children and node.lock_count == 0
        ]
        heapq.heapify(leaves)
        freed: list[int] = []
        while leaves and len(freed) < num_tokens:
            _, _, leaf = heapq.heappop(leaves)
            parent = leaf.parent
            assert parent is not None  # the root is locked
            freed.extend(leaf.slots)
            del parent.children[self._first_page(leaf.key)]
            self.num_evictable_tokens -= len(leaf.key)
            self.events.append(NodeEvicted(leaf.id, len(leaf.key)))
            if not parent.children and parent.lock_count == 0:
                heapq.heappush(leaves, (parent.last_access, parent.id, parent))
        return freed

    # -- inside -----------------------------------------------------------------------------

    def _new_node(
        self,
        key: Tokens,
        slots: tuple[int, ...],
        parent: Node | None,
        lock_count: int = 0,
        hit_count: int = 0,
    ) -> Node:
        """A node, hung below its parent; if a child begins with the same page, in its place."""
        node = Node(next(self._ids), key, slots, parent, next(self._ticks), lock_count, hit_count)
        if parent is not None:
            parent.children[self._first_page(key)] = node
        return node

    def _whole_pages(self, tokens: Row[Hashable]) -> Tokens:
        return tuple(tokens[: len(tokens) // self.page_size * self.page_size])

    def _first_page(self, key: Tokens) -> Tokens:
        return key[: self.page_size]

    def _descend(self, key: Tokens) -> list[Node]:
        """The nodes that spell the longest cached prefix, all touched at one tick.

        If it ends inside a node, that one is split; the front half is touched a tick later.
        """
        now = next(self._ticks)
        node, path, start = self.root, list[Node](), 0
        node.last_access = now
        while child := node.children.get(key[start : start + self.page_size]):
            child.last_access = now
            num_shared = self._num_shared(child.key, key, start)
            node = child if num_shared == len(child.key) else self._split(child, num_shared)
            path.append(node)
            start += num_shared
        return path

    def _num_shared(self, run: Tokens, key: Tokens, start: int) -> int:
        """Tokens that `run` and `key` from `start` on have in common, in whole pages."""
        for index in range(0, len(run), self.page_size):
            end = index + self.page_size
            if run[index:end] != key[start + index : start + end]:
                return index
        return len(run)

    def _split(self, node: Node, num_tokens: int) -> Node:
        """Cut a node in two; returns the new front half, the node itself becomes the tail."""
        front = self._new_node(
            node.key[:num_tokens],
            node.slots[:num_tokens],
            node.parent,
            node.lock_count,
            node.hit_count,
        )
        node.key, node.slots, node.parent = node.key[num_tokens:], node.slots[num_tokens:], front
        front.children[self._first_page(node.key)] = node
        self.events.append(NodeSplit(front.id, node.id, num_tokens))
        return front

    def _up_from(self, node: Node) -> Iterator[Node]:
        """The node and all above it but the root."""
        while node.parent is not None:
            yield node
            node = node.parent


# -- who goes next ----------------------------------------------------------------------------


def longest_prefix_order(tree: RadixTree, prompts: Row[Row[Hashable]]) -> list[int]:
    """SGLang's `lpm`: positions in the queue, longest cached prefix first; ties keep the queue.

    A queue of more than 128 stays as it is: first come, first served (`fcfs`, the default).
    Looking a prompt up counts as use of its prefix.
    """
    positions = list(range(len(prompts)))
    if len(prompts) > LONGEST_SORTED_QUEUE:
        return positions
    num_cached = [tree.match(prompt).num_tokens for prompt in prompts]
    return sorted(positions, key=lambda position: -num_cached[position])
