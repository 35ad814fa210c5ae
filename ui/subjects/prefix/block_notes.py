"""What happens to blocks, in words: one sentence per step of the hash chain and of the pool."""

from collections.abc import Iterable

from sim.kv.chain import ChainBlock, Fate
from sim.views.visits import Block, Move
from ui.theme import request_letter
from ui.words.language import tr

SHOWN_DIGITS = 6  # of a hash


def short_hash(block: ChainBlock) -> str:
    return block.hash[:SHOWN_DIGITS] if block.hash else "–"


def before_lookup(num_blocks: int, num_tokens: int) -> str:
    return tr(
        f"新提示词有 {num_tokens} 个 token，切成 {num_blocks} 块，还一块都没有查。",
        f"The new prompt has {_number(num_tokens, 'token')} in {_number(num_blocks, 'block')}; "
        "none is looked up yet.",
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
    inside = tr(f"{size} 个 token", _number(size, "token"))
    made = f"h{number} = H({before}, {inside}) = {short_hash(block)}…"
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


# -- the pool -----------------------------------------------------------------------------------


def content(owner: str | int, place: int) -> str:
    """What lies in a block: the third of a common text is "S3", the fourth of request A "A4"."""
    return f"{owner if isinstance(owner, str) else request_letter(owner)}{place + 1}"


def before_anybody(num_blocks: int) -> str:
    return tr(
        f"{num_blocks} 个块，全是空的，都排在空闲队列里。",
        f"{num_blocks} blocks, all of them empty and in the free queue.",
    )


def moved(move: Move) -> str:
    """One sentence: who came, wrote or left, and what that did to the blocks."""
    match move.kind:
        case "comes":
            return _came(move)
        case "answers":
            return _answered(move)
        case "leaves":
            return _left(move)


def _came(move: Move) -> str:
    who = request_letter(move.request_id)
    contents = {block.id: block.content for block in move.blocks}
    named = [content(*one) for block in move.found if (one := contents[block])]
    found = (
        tr(f"命中 {_listed(named)}", f"finds {_listed(named)}")
        if named
        else tr("什么也没命中", "finds nothing")
    )
    taken = _taken(move)
    return tr(f"{who} 来了，{found}，{taken}。", f"{who} comes, {found} and {taken}.")


def _answered(move: Move) -> str:
    who = request_letter(move.request_id)
    if not move.taken:
        return tr(
            f"{who} 写回答，最后一块还装得下。",
            f"{who} writes its answer; its last block has room for it.",
        )
    return tr(f"{who} 写回答，{_taken(move)}。", f"{who} writes its answer and {_taken(move)}.")


def _taken(move: Move) -> str:
    number = len(move.taken)
    if not move.evicted:
        return tr(
            f"从队首取 {number} 块",
            f"takes {_number(number, 'block')} from the head of the queue",
        )
    lost = _listed(content(*one) for one in move.evicted)
    return tr(
        f"从队首取 {number} 块，其中 {lost} 被淘汰",
        f"takes {_number(number, 'block')} from the head of the queue, which evicts {lost}",
    )


def _left(move: Move) -> str:
    who = request_letter(move.request_id)
    still = [block for block in move.blocks if block.users]
    shared = [content(*block.content) for block in still if block.content and _is_shared(block)]
    back = tr(
        f"{who} 走了。没人用的块从后往前排到队尾，内容还在",
        f"{who} leaves. Blocks nobody uses go to the end of the queue, last block first, "
        "and keep what is in them",
    )
    if not shared:
        return tr(f"{back}。", f"{back}.")
    others = _listed(shared)
    return tr(f"{back}；{others} 还有人用。", f"{back}; {others} are still in use.")


def _number(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _is_shared(block: Block) -> bool:
    return block.content is not None and isinstance(block.content[0], str)


def _listed(words: Iterable[str]) -> str:
    return tr("、", ", ").join(words)
