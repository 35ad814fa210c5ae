"""Text to token ids and back: byte-level BPE.

Every string is first its UTF-8 bytes, ids 0 to 255, so nothing is ever unknown; then the pairs that
were most frequent in the training text are merged, earliest merge first.  Compare one id per
character: it needs a table of all characters and gives long sequences.  The price of bytes: one
character may be cut into several tokens, and half a character is no text yet (`Detokenizer`).

Source: Sennrich et al. 2016 (BPE); Radford et al. 2019 (GPT-2), section 2.2 (bytes, and no merges
across kinds of characters).
"""

import codecs
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import IO

NUM_BYTES = 256
# A merge stays inside one of these: letters, digits, punctuation, underscores, white space.  None
# is long, so a long text costs in proportion to its length.
CHUNK = re.compile(r" ?[^\W\d_]{1,24}| ?\d{1,3}| ?[^\s\w]{1,8}|_{1,8}|\s{1,8}")

Pair = tuple[int, int]


class Tokenizer:
    """Merge `n` makes token `256 + n`; the last id, `end`, ends a text and stands for no bytes."""

    def __init__(self, merges: Iterable[Pair]):
        self.merges = [(left, right) for left, right in merges]
        self.ranks = {pair: NUM_BYTES + n for n, pair in enumerate(self.merges)}
        self.pieces = [bytes([value]) for value in range(NUM_BYTES)]  # token id -> its bytes
        for left, right in self.merges:
            self.pieces.append(self.pieces[left] + self.pieces[right])
        self.end = len(self.pieces)
        self.pieces.append(b"")

    @property
    def vocab_size(self) -> int:
        return len(self.pieces)

    def encode(self, text: str) -> list[int]:
        """Token ids of any text; half a surrogate pair, which no UTF-8 can hold, becomes `?`."""
        chunks = {chunk: self._merge(chunk) for chunk in set(CHUNK.findall(text))}
        return [token for chunk in CHUNK.findall(text) for token in chunks[chunk]]

    def prompt(self, text: str) -> list[int]:
        """The text as the model has seen texts begin: after the end of another."""
        return [self.end, *self.encode(text)]

    def decode(self, tokens: Iterable[int]) -> str:
        """The text of the tokens; bytes that are not (yet) a character become U+FFFD."""
        return b"".join(self.pieces[token] for token in tokens).decode("utf-8", "replace")

    def _merge(self, chunk: str) -> list[int]:
        """Merge the pair that was learned first, wherever it stands, until none is left."""
        tokens = list(chunk.encode("utf-8", "replace"))
        while len(tokens) > 1:
            first = min(pairwise(tokens), key=lambda pair: self.ranks.get(pair, self.end))
            if first not in self.ranks:
                break
            tokens = merged(tokens, first, self.ranks[first])
        return tokens

    def save(self, path: Path) -> None:
        path.write_text(json.dumps({"merges": self.merges}) + "\n", encoding="utf-8")


class Detokenizer:
    """Text as its tokens come in: what is not yet a whole character waits for the next token."""

    def __init__(self, tokenizer: Tokenizer):
        self._pieces = tokenizer.pieces
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, token: int) -> str:
        """The text that this token completes, perhaps none."""
        return self._decoder.decode(self._pieces[token])

    @property
    def waiting(self) -> bytes:
        """The beginning of a character whose end has not come yet."""
        return self._decoder.getstate()[0]

    def finish(self) -> str:
        """What waited in vain."""
        return self._decoder.decode(b"", final=True)


def load(file: str | Path | IO[bytes]) -> Tokenizer:
    """A tokenizer as `Tokenizer.save` wrote it."""
    text = Path(file).read_bytes() if isinstance(file, (str, Path)) else file.read()
    return Tokenizer(tuple(pair) for pair in json.loads(text)["merges"])


def merged(tokens: list[int], pair: Pair, new: int) -> list[int]:
    """The tokens with every `pair`, from left to right, replaced by `new`."""
    result: list[int] = []
    for token in tokens:
        if result and (result[-1], token) == pair:
            result[-1] = new
        else:
            result.append(token)
    return result


def train(texts: Iterable[str], num_merges: int) -> Tokenizer:
    """Learn merges: again and again the most frequent pair; of equally frequent ones the lowest.

    Stops early when no pair is left that occurs twice.
    """
    counts = Counter(chunk for text in texts for chunk in CHUNK.findall(text))
    chunks = [list(chunk.encode()) for chunk in counts]
    times = list(counts.values())  # how often each chunk occurs
    frequency: Counter[Pair] = Counter()
    where: defaultdict[Pair, set[int]] = defaultdict(set)  # chunks that held the pair once

    def count(index: int, sign: int) -> None:
        for pair in pairwise(chunks[index]):
            frequency[pair] += sign * times[index]
            where[pair].add(index)

    for index in range(len(chunks)):
        count(index, +1)
    merges: list[Pair] = []
    while len(merges) < num_merges:
        best = min(frequency, key=lambda pair: (-frequency[pair], pair), default=None)
        if best is None or frequency[best] < 2:
            break
        for index in where.pop(best):
            count(index, -1)
            chunks[index] = merged(chunks[index], best, NUM_BYTES + len(merges))
            count(index, +1)
        del frequency[best]
        merges.append(best)
    return Tokenizer(merges)
