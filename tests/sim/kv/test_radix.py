"""The radix tree: what begins alike is kept once, what runs is safe, what is oldest goes first."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sim.errors import SimError
from sim.events import NodeEvicted, NodeInserted, NodeSplit, PrefixHit
from sim.kv.radix import Node, RadixTree, longest_prefix_order


def grown(*texts: str, page_size: int = 1) -> RadixTree:
    """A tree that was given each text, a letter a token; slots count up from 0."""
    tree, first = RadixTree(page_size), 0
    for text in texts:
        tree.insert(text, range(first, first + len(text)))
        first += len(text)
    tree.events.clear()
    return tree


def spelled(tree: RadixTree) -> list[str]:
    return ["".join(map(str, node.key)) for node in tree.nodes()][1:]


def below_root(tree: RadixTree) -> Node:
    (child,) = tree.root.children.values()
    return child


# -- sharing ---------------------------------------------------------------------------------


def test_texts_that_begin_alike_share_a_node():
    tree = grown("system prompt: hello", "system prompt: how are you")
    assert spelled(tree) == ["system prompt: h", "ello", "ow are you"]
    assert tree.num_tokens == 30


def test_an_insert_returns_what_was_there_and_keeps_the_old_slots():
    tree = grown("abcd")
    assert tree.insert("abxy", range(10, 14)) == 2
    assert tree.match("abxy").slots == (0, 1, 12, 13)
    assert tree.insert("abxy", range(20, 24)) == 4


def test_a_match_that_ends_inside_a_node_splits_it():
    tree = grown("abcd")
    node = below_root(tree)
    found = tree.match("abx")
    assert found.slots == (0, 1)
    assert found.node is node.parent is below_root(tree)
    assert (found.node.key, node.key) == (("a", "b"), ("c", "d"))
    assert tree.events == [NodeSplit(found.node.id, node.id, 2), PrefixHit(found.node.id, 2)]


def test_a_split_keeps_locks_and_hits_in_both_halves():
    tree = grown("abcd", "abcd")
    tail = below_root(tree)
    tree.lock(tail)
    front = tree.match("ab").node
    assert [(node.lock_count, node.hit_count) for node in (front, tail)] == [(1, 2), (1, 2)]
    tree.unlock(tail)
    assert (front.lock_count, tree.num_protected_tokens) == (0, 0)


def test_pages_share_only_as_wholes():
    tree = grown("aaaabbbb", page_size=4)
    assert tree.match("aaaabbbc").num_tokens == 4
    assert tree.match("aaab").num_tokens == 0
    assert tree.match("aaa").num_tokens == 0
    assert tree.insert("aaaabbbcdd", range(8, 18)) == 4
    assert tree.num_tokens == 12  # "dd" is no whole page


def test_tokens_may_be_words():
    tree = RadixTree()
    tree.insert(["you", "are", "kind"], [0, 1, 2])
    assert tree.match(["you", "are", "here"]).num_tokens == 2


def test_nothing_cached_is_no_hit():
    tree = grown("abc")
    found = tree.match("xyz")
    assert (found.node, found.slots, tree.events) == (tree.root, (), [])


# -- locks and eviction ----------------------------------------------------------------------


def test_a_whole_leaf_goes_even_if_less_is_asked_for():
    tree = grown("abcd")
    assert tree.evict(3) == [0, 1, 2, 3]


def test_the_least_recently_used_leaf_goes_first():
    tree = grown("aa", "bb", "cc")
    tree.match("aa")
    assert tree.evict(1) == [2, 3]
    assert spelled(tree) == ["aa", "cc"]


def test_a_parent_goes_after_its_last_child():
    tree = grown("abc", "abd")
    parent, *leaves = [node.id for node in tree.nodes()][1:]
    tree.evict(4)
    assert tree.events == [NodeEvicted(leaf, 1) for leaf in leaves] + [NodeEvicted(parent, 2)]
    assert list(tree.nodes()) == [tree.root]


def test_a_lock_protects_the_node_and_everything_above():
    tree = grown("abc", "abd")
    tree.lock(tree.match("abc").node)
    assert (tree.num_protected_tokens, tree.num_evictable_tokens) == (3, 1)
    assert len(tree.evict(100)) == 1
    assert spelled(tree) == ["ab", "c"]


def test_a_node_locked_twice_needs_two_unlocks():
    tree = grown("abc")
    node = below_root(tree)
    tree.lock(node)
    tree.lock(node)
    tree.unlock(node)
    assert tree.evict(1) == []
    tree.unlock(node)
    assert len(tree.evict(1)) == 3


def test_the_root_is_never_evicted():
    tree = RadixTree()
    tree.lock(tree.match("abc").node)
    tree.unlock(tree.root)
    assert tree.evict(10) == []
    assert tree.root.lock_count == 1


def test_a_new_leaf_is_told_with_its_parent():
    tree = grown("ab")
    parent = below_root(tree)
    tree.insert("abc", range(3))
    (leaf,) = parent.children.values()
    assert tree.events == [NodeInserted(leaf.id, parent.id, 1)]


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("page_size_below_one", lambda: RadixTree(0)),
        ("slots_do_not_match_tokens", lambda: RadixTree().insert("abc", [1])),
        ("node_not_locked", lambda: (tree := grown("a")).unlock(below_root(tree))),
    ],
)
def test_what_cannot_be_is_refused(code, wrong):
    with pytest.raises(SimError) as error:
        wrong()
    assert error.value.code == code


# -- who goes next ---------------------------------------------------------------------------


def test_the_longest_cached_prefix_goes_first_and_ties_keep_the_queue():
    tree = grown("abcdef")
    assert longest_prefix_order(tree, ["xx", "abx", "abcdx", "aby", "yy"]) == [2, 1, 3, 0, 4]


def test_more_than_128_waiting_keep_the_order_of_arrival():
    tree = grown("abcdef")
    queue = ["x"] * 127 + ["abc"]
    assert longest_prefix_order(tree, queue)[0] == 127
    assert longest_prefix_order(tree, ["x", *queue]) == list(range(129))


# -- whatever is done to it ------------------------------------------------------------------

TEXTS = st.text("ab", max_size=20)


class AnyUse(RuleBasedStateMachine):
    """The tree beside a plain account: every cached prefix of whole pages, and its last slots."""

    @initialize(page_size=st.sampled_from([1, 2, 3, 4, 8]))
    def begin(self, page_size):
        self.tree = RadixTree(page_size)
        self.cached: dict[str, tuple[int, ...]] = {}
        self.locked: list[tuple[str, Node]] = []
        self.next_slot = 0

    def prefixes(self, text):
        size = self.tree.page_size
        return [text[:end] for end in range(size, len(text) + 1, size)]

    def cached_part(self, text):
        return max((p for p in self.prefixes(text) if p in self.cached), key=len, default="")

    @rule(text=TEXTS)
    def insert(self, text):
        slots = range(self.next_slot, self.next_slot + len(text))
        self.next_slot += len(text)
        assert self.tree.insert(text, slots) == len(self.cached_part(text))
        for prefix in self.prefixes(text):
            end = len(prefix)
            self.cached.setdefault(prefix, tuple(slots[end - self.tree.page_size : end]))

    @rule(text=TEXTS)
    def match(self, text):
        part = self.cached_part(text)
        expected = [slot for prefix in self.prefixes(part) for slot in self.cached[prefix]]
        assert list(self.tree.match(text).slots) == expected

    @rule(text=TEXTS)
    def lock(self, text):
        part = self.cached_part(text)
        node = self.tree.match(text).node
        self.tree.lock(node)
        self.locked.append((part, node))

    @precondition(lambda self: self.locked)
    @rule(data=st.data())
    def unlock(self, data):
        index = data.draw(st.integers(0, len(self.locked) - 1))
        self.tree.unlock(self.locked.pop(index)[1])

    @rule(num_tokens=st.integers(0, 20))
    def evict(self, num_tokens):
        before = {node.id: node for node in self.tree.nodes()}
        leaves = [n for n in before.values() if not n.children and n.lock_count == 0]
        evictable = self.tree.num_evictable_tokens
        self.tree.events.clear()
        freed = self.tree.evict(num_tokens)
        gone = [before[e.node_id] for e in self.tree.events if isinstance(e, NodeEvicted)]
        assert [slot for node in gone for slot in node.slots] == freed

        assert len(freed) >= min(num_tokens, evictable)  # enough, where possible
        assert not gone or len(freed) - len(gone[-1].key) < num_tokens  # and no leaf too many
        spared = [leaf for leaf in leaves if leaf not in gone]
        for node in gone:  # the oldest first
            assert all(node.last_access < other.last_access for other in spared)

        self.cached = {p: slots for p, slots in self.cached.items() if not set(slots) & set(freed)}
        for prefix in self.cached:  # leaves first: what is left can still be reached
            assert all(shorter in self.cached for shorter in self.prefixes(prefix))

    @invariant()
    def what_is_locked_is_still_there(self):
        assert all(not part or part in self.cached for part, _ in self.locked)

    @invariant()
    def the_tree_spells_what_is_cached(self):
        texts = {self.tree.root.id: ""}
        for node in self.tree.nodes():
            for first, child in node.children.items():
                assert (child.parent, child.key[: self.tree.page_size]) == (node, first)
                assert len(child.key) == len(child.slots) > 0
                texts[child.id] = texts[node.id] + "".join(map(str, child.key))
        assert {p for text in texts.values() for p in self.prefixes(text)} == set(self.cached)
        assert all(len(text) % self.tree.page_size == 0 for text in texts.values())

    @invariant()
    def the_sizes_add_up(self):
        nodes = list(self.tree.nodes())[1:]
        protected = sum(len(node.key) for node in nodes if node.lock_count > 0)
        kept = sum(map(len, self.cached.values()))
        assert self.tree.num_protected_tokens == protected
        assert self.tree.num_evictable_tokens == kept - protected
        assert self.tree.num_tokens == kept

    @invariant()
    def a_node_is_locked_as_often_as_it_is_held(self):
        held = {node.id: 0 for node in self.tree.nodes()}
        for _, node in self.locked:
            while node.parent is not None:
                held[node.id] += 1
                node = node.parent
        nodes = list(self.tree.nodes())[1:]
        assert {node.id: node.lock_count for node in nodes} == {n.id: held[n.id] for n in nodes}


AnyUse.TestCase.settings = settings(stateful_step_count=25)
TestAnyUse = AnyUse.TestCase
