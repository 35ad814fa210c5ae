"""Our radix tree against operation-by-operation records of the real SGLang radix cache.

A case holds a `page_size`, the operations (`ops`: insert, match, lock, unlock, evict), each with
what it returned and how much was evictable, protected and kept after it, and the `final_tree`.
Insert number i uses the next slots of one running counter.  `lock` looks the prompt up and locks
where the match ends; `unlock` names that lock by its handle.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

from sim.errors import require
from sim.kv.radix import Node, RadixTree
from sim.replay.records import Mismatch, Replay, number, reading, tokens

RETURNED = {
    "insert": ("prefix",),
    "match": ("prefix",),
    "lock": ("prefix",),
    "unlock": (),
    "evict": ("evicted", "freed"),
}
SIZES = ("evictable", "protected", "total")

NodeRow = tuple[int, tuple[Hashable, ...], int, int]  # (depth, key, lock count, hit count)


@dataclass(frozen=True)
class Operation:
    """What is asked of the tree, and what the real one answered.

    `ids`: of insert, match, lock; `handle`: of lock and unlock; `num_tokens`: of evict.
    """

    name: str
    ids: tuple[int, ...]
    handle: int
    num_tokens: int
    theirs: dict[str, Any]


def replay_case(name: str, case: dict[str, Any]) -> Replay:
    """Run one case and compare after every operation, and the tree at the end.

    Raises:
        SimError: `replay_bad_case`.
    """
    with reading(name):
        tree = RadixTree(number(case["page_size"], least=1))
        operations = [_operation(row) for row in case["ops"]]
        final_tree = _recorded_tree(case["final_tree"])
        require(bool(operations), "replay_no_operations")

    slots = count()
    locked: dict[int, Node] = {}
    for index, operation in enumerate(operations):
        if operation.name == "unlock":
            require(operation.handle in locked, "replay_not_locked", case=name, operation=index)
        ours = _run(operation, tree, slots, locked) | {
            "evictable": tree.num_evictable_tokens,
            "protected": tree.num_protected_tokens,
            "total": tree.num_tokens,
        }
        mismatches = tuple(
            Mismatch(index, what, ours[what], theirs)
            for what, theirs in operation.theirs.items()
            if ours[what] != theirs
        )
        if mismatches:
            return Replay(name, index + 1, mismatches)
    ends = _our_tree(tree)
    if ends != final_tree:
        last = len(operations) - 1
        return Replay(name, len(operations), (Mismatch(last, "final_tree", ends, final_tree),))
    return Replay(name, len(operations))


# -- inside -----------------------------------------------------------------------------------


def _operation(row: dict[str, Any]) -> Operation:
    name = row["op"]
    return Operation(
        name,
        ids=tokens(row["ids"]) if name in ("insert", "match", "lock") else (),
        handle=number(row["handle"]) if name in ("lock", "unlock") else 0,
        num_tokens=number(row["n"]) if name == "evict" else 0,
        theirs={what: row[what] for what in RETURNED[name] + SIZES},
    )


def _run(
    operation: Operation, tree: RadixTree, slots: "count[int]", locked: dict[int, Node]
) -> dict[str, Any]:
    """Do it, and say what it returned in the words of the records."""
    match operation.name:
        case "insert":
            own = list(islice(slots, len(operation.ids)))
            return {"prefix": tree.insert(operation.ids, own)}
        case "evict":
            freed = tree.evict(operation.num_tokens)
            return {"evicted": len(freed), "freed": freed}
        case "unlock":
            tree.unlock(locked.pop(operation.handle))
            return {}
    found = tree.match(operation.ids)
    if operation.name == "lock":
        tree.lock(found.node)
        locked[operation.handle] = found.node
    return {"prefix": found.num_tokens}


def _our_tree(tree: RadixTree) -> list[NodeRow]:
    depth = {tree.root.id: 0}
    rows = []
    for node in tree.nodes():
        depth |= {child.id: depth[node.id] + 1 for child in node.children.values()}
        rows.append((depth[node.id], node.key, node.lock_count, node.hit_count))
    return rows


def _recorded_tree(root: dict[str, Any]) -> list[NodeRow]:
    ahead, rows = [(0, root)], list[NodeRow]()
    while ahead:
        depth, node = ahead.pop()
        rows.append((depth, tokens(node["key"]), number(node["lock"]), number(node["hits"])))
        ahead.extend((depth + 1, child) for child in reversed(node["children"]))
    return rows
