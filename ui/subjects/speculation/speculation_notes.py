"""What just happened in a round of speculation, in words: one function per moment of the tape.

Proposals are called A, B, C ... in their order.  Tokens are a reader's own text: each is isolated,
so that a right-to-left one does not turn the sentence around.
"""

from ui.words import notes
from ui.words.language import tr
from ui.words.notes import quoted
from ui.words.numbers import count, significant


def named(place: int, token: str) -> str:
    """A “token”."""
    return f"{letter(place)} {quoted(token)}"


def letter(place: int) -> str:
    return chr(ord("A") + place)


def share(value: float) -> str:
    """In percent, to two digits however small: 0.00004 -> "0.004%"."""
    return f"{significant(100 * value, 2)}%"


def proposed(place: int, token: str, q: float) -> str:
    return tr(
        f"draft 的第 {place + 1} 小步：提议 {named(place, token)}，它自己给的概率 q 是 "
        f"{share(q)}。",
        f"Step {place + 1} of the draft: it proposes {named(place, token)}, to which it "
        f"gives q = {share(q)}.",
    )


def verified(num_proposed: int) -> str:
    return tr(
        f"target 只前向一次：{num_proposed} 个提议一起读入，"
        f"{num_proposed + 1} 个位置的 p 同时算出。",
        f"One pass of the target: the proposals ({num_proposed}) go in together, and p comes out "
        f"for {num_proposed + 1} places at once.",
    )


def accepted(place: int, token: str, p: float, q: float) -> str:
    if p >= q:
        return tr(
            f"{named(place, token)}：p {share(p)} 不小于 q {share(q)}，一定接受。",
            f"{named(place, token)}: p {share(p)} is at least q {share(q)}, so it is accepted "
            "for certain.",
        )
    return tr(
        f"{named(place, token)}：接受的机会是 p ÷ q = {share(p)} ÷ {share(q)} = "
        f"{share(p / q)}，抽中了：接受。",
        f"{named(place, token)}: its chance is p ÷ q = {share(p)} ÷ {share(q)} = "
        f"{share(p / q)}, and the draw says: accepted.",
    )


def rejected(place: int, token: str, p: float, q: float, num_after: int) -> str:
    dropped = (
        letter(place + 1) if num_after == 1 else f"{letter(place + 1)}–{letter(place + num_after)}"
    )
    return tr(
        f"{named(place, token)}：接受的机会只有 p ÷ q = {share(p)} ÷ {share(q)} = "
        f"{share(p / q)}，没抽中：拒绝。" + (f"后面的 {dropped} 一起作废。" if num_after else ""),
        f"{named(place, token)}: its chance is only p ÷ q = {share(p)} ÷ {share(q)} = "
        f"{share(p / q)}, and the draw says: rejected."
        + (
            f" {dropped} after it {'is' if num_after == 1 else 'are'} dropped." if num_after else ""
        ),
    )


def corrected(place: int, token: str) -> str:
    return tr(
        f"改从 max(0, p − q) 里抽：{quoted(token)}。这一轮接受 {place} 个，加上修正的 1 个，"
        f"一共前进 {place + 1} 个 token。",
        f"Instead, {quoted(token)} is drawn from max(0, p − q). This round: {place} accepted and "
        f"one correction make {place + 1}.",
    )


def bonus(place: int, token: str) -> str:
    return tr(
        f"{place} 个全部接受，最后一个位置的 p 还没用：再抽一个 {quoted(token)}。这一轮一共前进 "
        f"{place + 1} 个 token。",
        f"All {place} are accepted, and p of the last place is still unused: it gives "
        f"{quoted(token)} on top. This round: {place} accepted and one bonus make {place + 1}.",
    )


# -- on the page ----------------------------------------------------------------------------


def left_out(num_tokens: int) -> str:
    """Of a text with more tokens than the model is given, what became of the rest."""
    if not num_tokens:
        return ""
    return tr(
        f"这段文字太长，末尾的 {num_tokens:,} 个 token 没有用上。",
        f"This text is too long; its last tokens ({num_tokens:,}) are not used.",
    )


def batch_or_none(batch: int | None) -> str:
    return tr("没有", "never") if batch is None else count(batch)


def product(num_proposed: int, batch: int) -> str:
    """How many tokens a verification computes: "5 × 16 = 80"."""
    return f"{num_proposed + 1} × {batch} = {(num_proposed + 1) * batch:,}"


def tiny(p_value: float) -> str:
    """A p-value, or that it is smaller than anyone could care about."""
    return tr("小于 10⁻⁹", "below 10⁻⁹") if p_value < 1e-9 else significant(p_value, 2)


def in_markdown(token: str) -> str:
    """A token of the reader's own, within a sentence."""
    return quoted(notes.as_typed(token))
