"""One meaning, one colour, one pattern: everywhere, in both themes.

Every data colour has a contrast of at least 3:1 on the light and on the dark page, so the server
never needs to know which of the two a reader sees.  Hues follow Okabe and Ito's palette, shifted in
lightness where the original fails on one background.
"""

from dataclasses import dataclass

BACKGROUND_LIGHT = "#ffffff"
BACKGROUND_DARK = "#14171c"
TEXT_LIGHT = "#1f2328"
TEXT_DARK = "#e6e8eb"


@dataclass(frozen=True)
class Meaning:
    """What a state of a request, slot or block looks like, and is called."""

    colour: str
    pattern: str
    zh: str
    en: str


MEANINGS: dict[str, Meaning] = {
    "queue": Meaning("#78808a", "dots", "排队", "queue"),
    "prefill": Meaning("#b87a00", "diagonal", "预填充", "prefill"),
    "decode": Meaning("#0072b2", "solid", "解码", "decode"),
    "held": Meaning("#d55e00", "cross", "写完仍占着", "done, slot held"),
    "stalled": Meaning("#a05c93", "horizontal", "等别人预填充", "waits for a prefill"),
    "preempted": Meaning("#c4457c", "vertical", "被抢占", "preempted"),
    "cached": Meaning("#008f68", "dots", "缓存命中", "cached"),
    "stored": Meaning("#4f8a8b", "dots", "已存的 KV", "stored KV"),
    "free": Meaning("#848b94", "outline", "空", "empty"),
    # What an engine step carries, and what CPU and GPU do meanwhile.
    "mixed": Meaning("#7a8330", "grid", "预填充 + 解码", "prefill + decode"),
    "tokenize": Meaning("#2f8a4e", "backslash", "分词", "tokenize"),
    "prepare": Meaning("#5c8a52", "dots", "调度和准备", "schedule and prepare"),
    "launch": Meaning("#9a6a4b", "horizontal", "启动 kernel", "launch"),
    "kernel": Meaning("#7a68c8", "dashes", "执行 kernel", "kernel"),
    "sample": Meaning("#cc4b4b", "checks", "采样", "sample"),
    "detokenize": Meaning("#2a8aa8", "cross", "还原成文字", "detokenize"),
    "idle": Meaning("#8a8278", "outline", "空闲", "idle"),
    "padding": Meaning("#86807f", "cross", "填充的行", "padding"),
    # What lies in a GPU's memory beside KV.
    "weights": Meaning("#6a70b8", "solid", "权重", "weights"),
    "overhead": Meaning("#9b7a3f", "grid", "其他开销", "overhead"),
    "left_alone": Meaning("#85897c", "backslash", "不动用", "left alone"),
    "too_much": Meaning("#b8553a", "checks", "放不下", "does not fit"),
    # What a slot of KV memory is; drawn in the colour of its request.
    "filled": Meaning("#7b7f86", "solid", "已写入的 token", "holds a token"),
    "later": Meaning("#80808c", "diagonal", "留给以后的 token", "reserved for later"),
    "internal": Meaning("#87807a", "cross", "永远用不到", "never used"),
    "external": Meaning("#7d868b", "horizontal", "空闲，但放不下排队的", "free, but too small"),
    "findable": Meaning("#79867c", "dots", "空闲，还能命中", "free, can be found again"),
    # Where a token of a speculated text comes from.
    "given": Meaning("#7c8591", "none", "提示词", "prompt"),
    "proposed": Meaning("#a8741a", "outline", "draft 提议", "proposed by the draft"),
    "accepted": Meaning("#3a8a4a", "solid", "接受", "accepted"),
    "rejected": Meaning("#cf4455", "cross", "拒绝", "rejected"),
    "corrected": Meaning("#a457b5", "diagonal", "修正", "correction"),
    "bonus": Meaning("#5c76c9", "dots", "额外", "bonus"),
    "target": Meaning("#1f78b4", "solid", "target 的概率", "the target's probability"),
    # A token that an automaton watches.
    "drawn": Meaning("#2d7f9d", "solid", "模型写的", "drawn from the model"),
    "jumped": Meaning("#8f7d2c", "outline", "跳过模型，直接写上", "jumped over"),
    "breaks": Meaning("#c8504a", "cross", "破坏了格式", "breaks the format"),
    # What becomes of a node in the radix tree.
    "locked": Meaning("#5d7285", "horizontal", "锁住", "locked"),
    "evictable": Meaning("#83806a", "outline", "可淘汰", "evictable"),
    "evicted": Meaning("#b3544a", "vertical", "刚被淘汰", "just evicted"),
    "missing": Meaning("#8b7f76", "none", "还要算的", "still to compute"),
    "in_use": Meaning("#56789c", "backslash", "有人在用", "in use"),
    "unseen": Meaning("#7d8494", "none", "还没查", "not looked up yet"),
    # What becomes of a weight when it is quantized.
    "unrounded": Meaning("#8a8f96", "outline", "舍入前", "before rounding"),
    "rounded": Meaning("#3b78b8", "solid", "舍入后", "after rounding"),
    "round_off": Meaning("#d2504e", "cross", "舍入误差", "rounding error"),
    "pool": Meaning("#3f8f93", "dots", "KV 池", "KV pool"),
    # What the user has of it.
    "answer": Meaning("#9c5fb0", "solid", "看到的文字", "text on the screen"),
    "measured": Meaning("#7f7a8c", "outline", "量到的时间", "measured time"),
}

# Lines and bars that stand for no state, in order of use.
SERIES = ("#0072b2", "#d55e00", "#008f68", "#a05c93", "#b87a00", "#78808a")

PATTERNS = (
    "solid",
    "diagonal",
    "backslash",
    "dots",
    "dashes",
    "checks",
    "cross",
    "grid",
    "horizontal",
    "vertical",
    "outline",
    "none",
)


def request_letter(index: int) -> str:
    """A to Z, then A1 to Z1, and so on."""
    turn, letter = divmod(index, 26)
    return chr(ord("A") + letter) + (str(turn) if turn else "")


def luminance(colour: str) -> float:
    """Relative luminance of "#rrggbb" (WCAG 2)."""
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    red, green, blue = linear
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, from 1 to 21 (WCAG 2)."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)
