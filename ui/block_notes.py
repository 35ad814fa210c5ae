"""What happens to blocks, in words: one sentence per step of the hash chain and of the pool."""

from sim.kv.chain import ChainBlock, Fate
from ui.language import tr

SHOWN_DIGITS = 6  # of a hash


def short_hash(block: ChainBlock) -> str:
    return block.hash[:SHOWN_DIGITS] if block.hash else "–"


def before_lookup(num_blocks: int, num_tokens: int) -> str:
    return tr(
        f"新提示词有 {num_tokens} 个 token，切成 {num_blocks} 块，还一块都没有查。",
        f"The new prompt has {num_tokens} tokens in {num_blocks} blocks; none is looked up yet.",
    )


def looked_up(number: int, block: ChainBlock, fate: Fate, is_first_miss: bool) -> str:
    """Block `number`, counted from 1: its hash, whether it is in the cache, and if not, why."""
    size = len(block.tokens)
    if fate == "rest":
        return tr(
            f"最后 {size} 个 token 不满一块：没有哈希，总是要算。",
            f"The last {size} tokens do not fill a block: no hash, always computed."
            if size > 1
            else "The last token does not fill a block: no hash, always computed.",
        )
    before = tr("前面没有块", "nothing before it") if number == 1 else f"h{number - 1}"
    made = f"h{number} = H({before}, {size} token) = {short_hash(block)}…"
    return f"{made}{tr('：', ': ')}{_outcome(number, fate, is_first_miss)}"


def _outcome(number: int, fate: Fate, is_first_miss: bool) -> str:
    match fate:
        case "hit":
            return tr("缓存里有，直接用。", "in the cache, so it is used.")
        case "last":
            return tr(
                "缓存里其实有，但它含最后一个 token，logits 总要算，所以整块重算。",
                "it is in the cache, but holds the last token, whose logits are needed: the whole "
                "block is computed again.",
            )
        case "other_beginning" if is_first_miss:
            return tr(
                "没有。这些 token 缓存里有，只是前面的不一样。从这里起全部要算。",
                "not there. These tokens are cached, but after another beginning. "
                "From here on everything is computed.",
            )
        case "other_beginning":
            return tr(
                f"没有。token 一模一样，可 h{number - 1} 变了，它也就变了。",
                f"not there. The very same tokens, but h{number - 1} has changed, and so has it.",
            )
        case _ if is_first_miss:
            return tr(
                "没有。从这一块起，后面全部要算。",
                "not there. From this block on everything is computed.",
            )
        case _:
            return tr("没有，要算。", "not there, so it is computed.")
