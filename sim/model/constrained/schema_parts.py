"""Pieces of the patterns that schemas become: members with commas between them, lists, choices."""

from collections.abc import Sequence

MAX_OPTIONAL = 6  # of which each may be the first; of more the first one comes first


def members(members: Sequence[tuple[str, bool]]) -> str:
    """Properties in their order, with a comma between any two that are there."""
    first = next((at for at, (_, needed) in enumerate(members) if needed), None)
    if first is not None:
        before = "".join(f"({one},)?" for one, _ in members[:first])
        return before + members[first][0] + _behind(members[first + 1 :])
    beginnings = members[: len(members) if len(members) <= MAX_OPTIONAL else 1]
    ways = [one + _behind(members[at + 1 :]) for at, (one, _) in enumerate(beginnings)]
    return f"({'|'.join(ways)})?" if ways else ""


def _behind(members: Sequence[tuple[str, bool]]) -> str:
    return "".join(f",{one}" if needed else f"(,{one})?" for one, needed in members)


def wrapped(begin: str, item: str, low: int, high: str, end: str) -> str:
    """Items with commas between them; `high` is empty where nothing limits them."""
    least, most = max(low - 1, 0), str(int(high) - 1) if high else ""
    inside = f"({item})(,({item})){{{least},{most}}}"
    return f"{begin}({inside})?{end}" if low == 0 else f"{begin}{inside}{end}"


def choice(ways: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(ways))
    return distinct[0] if len(distinct) == 1 else "(" + "|".join(distinct) + ")"
