"""Words for constrained decoding: what happened to a token, and what is wrong with a format.

A pattern and its tokens are a reader's own text: quoted as they are in the player, made harmless
for Markdown in messages.
"""

from sim.errors import SimError
from sim.model.constrained.index import Piece
from ui import tiny_model
from ui.words import notes
from ui.words.language import tr
from ui.words.notes import quoted
from ui.words.numbers import count, percent

ESCAPES = r"\\d \\w \\s \\n \\t \\xNN \\uNNNN"  # as Markdown


def drawn(piece: Piece, dead: int, vocab: int) -> str:
    """One token that the model was asked for."""
    assert piece.free is not None
    token = quoted(tiny_model.piece(piece.token))
    if piece.state == dead:
        return tr(
            f"抽到{token}。格式早就破坏了，后面写什么都救不回来。",
            f"Drawn: {token}. The format was broken before; nothing that follows can mend it.",
        )
    allowed = count(piece.num_allowed)
    lost = percent(float(piece.free[~piece.allowed].sum()))
    may = tr(
        f"状态 {piece.state}：{count(vocab)} 个 token 里有 {allowed} 个可以接，"
        f"模型把 {lost} 的概率给了其余的。",
        f"State {piece.state}: {allowed} of {count(vocab)} tokens may follow; the model puts "
        f"{lost} of its probability on the others. ",
    )
    if piece.after == dead:
        return may + tr(
            f"没有掩码，抽到了不许的{token}：格式破坏了。",
            f"Without the mask a forbidden one was drawn, {token}: the format is broken.",
        )
    if piece.token == tiny_model.encoder().end:
        return may + tr("抽到结束，文本完整。", "Drawn: the end. The text is complete.")
    return may + tr(
        f"抽到{token}，到状态 {piece.after}。",
        f"Drawn: {token}, on to state {piece.after}.",
    )


def jumped(piece: Piece) -> str:
    """One token that nobody was asked for."""
    token = quoted(tiny_model.piece(piece.token))
    return tr(
        f"状态 {piece.state} 之后只有一种写法，直接写上{token}，到状态 {piece.after}：没有前向，"
        "也没有抽签。",
        f"After state {piece.state} only one text can follow: {token} is written at once, on to "
        f"state {piece.after}, without a pass and without a draw.",
    )


def problem(error: SimError) -> str:
    """What is wrong with a pattern or a schema, where, and what was expected."""
    place, limit = error.values.get("place", ""), count(int(str(error.values.get("limit", 0))))
    value = notes.as_typed(str(error.values.get("value", "")))
    way = notes.as_typed(str(error.values.get("at", "")))
    at = tr(f"第 {place} 个字符：", f"Character {place}: ") if place else ""
    if way:
        at = tr(f"在 {way}：", f"At {way}: ")
    what = {
        "pattern_nothing_to_repeat": tr(
            "重复号前面没有可以重复的东西；要写这个字符本身，前面加 \\\\。",
            "there is nothing to repeat before this sign; for the character itself put \\\\ "
            "before it.",
        ),
        "pattern_repeat_unreadable": tr(
            "花括号里应为次数，如 {3}、{2,} 或 {2,5}；要写 { 本身，写成 \\\\{。",
            "a number of times was expected in braces, as {3}, {2,} or {2,5}; for { itself "
            "write \\\\{.",
        ),
        "pattern_repeat_backwards": tr("次数的下限大于上限。", "the least exceeds the most."),
        "pattern_repeat_too_often": tr(
            f"重复次数最多 {limit}。", f"at most {limit} repetitions are possible."
        ),
        "pattern_group_open": tr("这个括号没有闭合。", "this group is not closed."),
        "pattern_group_not_open": tr(
            "多出一个右括号。", "this closing parenthesis closes nothing."
        ),
        "pattern_class_open": tr("这个方括号没有闭合。", "this class is not closed."),
        "pattern_class_empty": tr(
            "这个字符类一个字符也不含。", "no character belongs to this class."
        ),
        "pattern_range_backwards": tr(
            "范围的起点应在终点之前，两端都是单个字符。",
            "a range runs from one character to a later one.",
        ),
        "pattern_escape_unknown": tr(
            f"不认识 {value}；能用 {ESCAPES}，或在标点前加 \\\\。",
            f"{value} is unknown; there are {ESCAPES}, and \\\\ before punctuation.",
        ),
        "pattern_unsupported": tr(
            f"{value} 在这里用不了：有限自动机做不到，或这个小实现没有。",
            f"{value} cannot be used here: a finite automaton has no such thing, or this small "
            "one does not.",
        ),
        "pattern_too_deep": tr(f"括号最多嵌套 {limit} 层。", f"groups nest at most {limit} deep."),
        "pattern_too_large": tr(
            f"展开所有重复之后有 {value} 段字符，最多 {limit} 段。",
            f"Written out, its repetitions come to {value} characters; at most {limit} are "
            "possible.",
        ),
        "automaton_too_large": tr(
            f"它的自动机超过 {limit} 个状态，或建表太费时。减少重复次数，少用“.”；"
            "\\\\w 是所有文字的字母，[A-Za-z0-9_] 要小得多。",
            f"Its automaton has more than {limit} states, or takes too long to build. Repeat "
            "less, or use fewer dots; \\\\w are the letters of all scripts, [A-Za-z0-9_] is far "
            "smaller.",
        ),
        "schema_not_json": tr(
            "以 { 开头，因此应为 JSON Schema，但这里不是合法的 JSON。",
            "it begins with {, so JSON Schema was expected, but this is not valid JSON.",
        ),
        "schema_not_an_object": tr(
            f"每个 schema 应为一个 JSON 对象，读到 {value}。",
            f"Every schema must be a JSON object; found {value}.",
        ),
        "schema_unsupported": tr(
            f"这里不认识关键字 {value}。", f"The keyword {value} is not known here."
        ),
        "schema_type_unknown": tr(
            f"type 是 {value}，应为 string、object、array、integer、number、boolean、null 之一。",
            f"The type is {value}; expected one of string, object, array, integer, number, "
            "boolean, null.",
        ),
        "schema_value_unreadable": tr(
            f"{value} 的值读不懂，或者太大。",
            f"The value of {value} makes no sense, or is too large.",
        ),
        "schema_not_honoured": tr(
            f"{value} 这里做不到，所以不收：写出的文本可能违反它。",
            f"{value} cannot be honoured here and is refused: a text could be written that "
            "violates it.",
        ),
        "schema_too_large": tr(
            "展开之后太大；少用引用、可省略的属性和嵌套的列表。",
            "Written out it is too large; use fewer references, optional properties and nested "
            "lists.",
        ),
        "schema_too_deep": tr(f"最多嵌套 {limit} 层。", f"Schemas nest at most {limit} deep."),
    }[error.code]
    return at + what
