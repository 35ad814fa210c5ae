"""What is said while weights are rounded; a function for each moment."""

from ui.words.language import tr
from ui.words.numbers import significant


def unrounded(num_weights: int) -> str:
    return tr(
        f"一个通道的前 {num_weights} 个权重，还没有舍入。",
        f"The first {num_weights} weights of one channel, not rounded yet.",
    )


def scaled(
    granularity: str, largest: float, top_level: float, scale: float, num_levels: int
) -> str:
    whose = {
        "tensor": tr("整个矩阵", "the whole matrix"),
        "channel": tr("这个通道", "this channel"),
        "group": tr("这一组", "this group"),
    }[granularity]
    a, b, c = significant(largest), significant(top_level), significant(scale)
    return tr(
        f"{whose}里最大的权重是 {a}，除以最大的级别 {b}：缩放系数 {c}。"
        f"横线是 {num_levels} 个级别乘上它。",
        f"The largest weight of {whose} is {a}; over the largest level, {b}: scale {c}. "
        f"Lines are the {num_levels} levels times that.",
    )


def rounded(num_weights: int, num_zeros: int, error: str) -> str:
    return tr(
        f"{num_weights} 个权重各自走到最近的级别，{num_zeros} 个变成 0；误差 {error}。",
        f"{num_weights} weights go to the nearest level, {num_zeros} of them to 0; error {error}.",
    )
