"""Byte-level BPE: nothing is lost, merges are learned as in the paper, half a character waits."""

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sim.model.tokenizer import CHUNK, Detokenizer, Tokenizer, load, merged, train
from tests.sim.model.tiny import FOLDER, TEXTS, encoder

BYTES_ONLY = Tokenizer([])


@given(st.text())
def test_every_text_comes_back(text):
    assert encoder().decode(encoder().encode(text)) == text
    assert BYTES_ONLY.encode(text) == list(text.encode())


@given(st.text())
def test_the_chunks_are_the_text_and_none_is_long(text):
    chunks = CHUNK.findall(text)
    assert "".join(chunks) == text
    assert all(1 <= len(chunk) <= 25 for chunk in chunks)


def test_half_a_surrogate_pair_becomes_a_question_mark():
    assert encoder().decode(encoder().encode("a\ud83d!")) == "a?!"


def test_the_textbook_example():
    """aaabdaaabac: Z = aa, Y = ab, X = ZY gives XdXac."""
    learned = train(["aaabdaaabac"], num_merges=3)
    assert learned.pieces[256:] == [b"aa", b"ab", b"aaab", b""]
    assert learned.encode("aaabdaaabac") == [258, ord("d"), 258, ord("a"), ord("c")]


def test_an_earlier_merge_goes_first():
    """With bc learned before ab, abc is a + bc."""
    assert Tokenizer([(98, 99), (97, 98)]).encode("abc") == [97, 256]


def test_learning_stops_when_no_pair_occurs_twice():
    assert train(["abcd"], num_merges=5).merges == []


@given(st.lists(st.text("ab1 字", max_size=12), max_size=4))
def test_counting_as_we_go_learns_what_counting_anew_learns(texts):
    chunks = [list(chunk.encode()) for text in texts for chunk in CHUNK.findall(text)]
    merges: list[tuple[int, int]] = []
    while len(merges) < 6:
        frequency = Counter(pair for chunk in chunks for pair in pairwise(chunk))
        best = min(frequency, key=lambda pair: (-frequency[pair], pair), default=None)
        if best is None or frequency[best] < 2:
            break
        chunks = [merged(chunk, best, 256 + len(merges)) for chunk in chunks]
        merges.append(best)
    assert train(texts, num_merges=6).merges == merges


def test_a_run_of_one_byte_is_merged_from_the_left():
    assert merged([7, 7, 7], (7, 7), 9) == [9, 7]


def test_half_a_character_waits_for_its_other_half():
    writer = Detokenizer(BYTES_ONLY)
    assert [writer.add(byte) for byte in "词🙂!".encode()] == ["", "", "词", "", "", "", "🙂", "!"]
    assert writer.add(0xE8) == ""
    assert writer.finish() == "\ufffd"


@given(st.lists(st.integers(0, encoder().vocab_size - 1)))
def test_a_text_in_pieces_is_the_whole_text(tokens):
    writer = Detokenizer(encoder())
    assert "".join([*map(writer.add, tokens), writer.finish()]) == encoder().decode(tokens)


def test_the_words_of_the_course_are_single_tokens():
    for text in ("请求", "预填充", " prefill", " request", " token"):
        assert len(encoder().encode(text)) == 1, text


def test_a_prompt_begins_after_the_end_of_another_text():
    assert encoder().prompt("a") == [encoder().end, ord("a")]
    assert encoder().decode([encoder().end]) == ""
    assert encoder().end == encoder().vocab_size - 1


def test_a_saved_tokenizer_is_the_same(tmp_path):
    encoder().save(tmp_path / "again.json")
    with (FOLDER / "tokenizer.json").open("rb") as file:
        copies = load(tmp_path / "again.json"), load(file)
    for text in TEXTS:
        assert [copy.encode(text) for copy in copies] == [encoder().encode(text)] * 2
