"""Bytes as people have them; whatever they are, an answer comes soon, and never a traceback."""

import json
import random
import time

import pytest

from sim.errors import SimError
from sim.studies.clinic import Slo, Thresholds
from tests.test_brought import BRING, FOLDER
from ui.subjects.clinic import bring, brought_notes, metrics_text
from ui.subjects.clinic.brought import texts
from ui.words import language

TEXT = "vllm:kv_cache_usage_perc 0.5\nvllm:num_requests_running 3\n"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends_are_told_by_themselves(encoding, end):
    found = metrics_text.read_text(TEXT.replace("\n", end).encode(encoding))
    assert (found.kv, found.running) == ((0.5,), 3)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\xff\xfe\x00", "brought_not_text"),
        (b"vllm:x \xe9\xe9", "brought_not_text"),
        (b"\x1f\x8b\x08\x00", "brought_compressed"),
        (b"PK\x03\x04", "brought_compressed"),
        (b"x" * (texts.MAX_BYTES + 1), "brought_too_large"),
        (b"up 1\n" * (texts.MAX_LINES + 1), "brought_too_long"),
        (b"x" * (texts.MAX_METRICS_BYTES + 1), "brought_too_large"),
    ],
)
def test_what_is_no_text_or_too_much_is_refused(data, code):
    with pytest.raises(SimError, match=code):
        metrics_text.parse(data)


def everything_said(data):
    """All words that the page would have for a text, in both languages."""
    try:
        found = metrics_text.read_text(data)
    except SimError as error:
        return brought_notes.problem(error)
    slo, limits = Slo(1, 0.1), Thresholds()
    bring.against_limits(found, slo, limits)
    bring.ways(found, slo, limits)
    said = (bring.span(found), bring.answers(found, slo, limits))
    return "\n".join((*said, bring.notes(found), bring.missing(found)))


def mutated(data, rng):
    """The text with a few pieces lost, doubled, swapped or overwritten."""
    own = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        at, length = rng.randrange(len(own) + 1), rng.randint(1, 30)
        piece = bytes(own[at : at + length])
        own[at : at + length] = rng.choice(
            [
                b"",
                piece * 2,
                piece[::-1],
                rng.choice(
                    [b"NaN", b"1e999", b"-1", b"{", b'"', b"\\", b"\n", b"\0", b"\xff", b"9" * 400]
                ),
            ]
        )
    return bytes(own)


@pytest.mark.parametrize("code", ["zh", "en"])
def test_mutated_texts_are_read_or_refused_in_words(code, monkeypatch):
    monkeypatch.setattr(language, "current", lambda: code)
    rng = random.Random(18)
    files = [(FOLDER / name).read_bytes() for name in BRING]
    for _ in range(500):
        said = everything_said(mutated(rng.choice(files), rng))
        assert said
        assert "<script" not in said


BIG = texts.MAX_BYTES
LARGE = {
    "many series": b"".join(
        b'vllm:num_requests_running{engine="%d"} 1\n' % n for n in range(99_000)
    ),
    "one series again and again": b"vllm:num_requests_running 1\n" * 99_000,
    "short lines": b"a 1\n" * 99_000,
    "junk": b"?\n" * 99_000,
    "one long line": b"vllm:x" + b"a" * (BIG - 6),
    "labels without end": b"vllm:x{" + b'a="b",' * (BIG // 6 - 2),
    "quotes": b'vllm:x{a="' + b'\\"' * (BIG // 2 - 10),
    "spaces": b"vllm:x" + b" " * (BIG - 8) + b"1",
    "brackets": b"[" * BIG,
    "braces": b'{"a":' * (BIG // 5),
    "numbers": b"[" + b"1," * (BIG // 2 - 2) + b"1]",
    "values": b"{}" * (BIG // 2),
    "a long number": b"[" + b"9" * (BIG - 2) + b"]",
    "a long fraction": b"[0." + b"9" * (BIG - 4) + b"]",
    "commas": b"{}" + b"," * (BIG - 2),
    "fences": b"```\n" * 99_000,
    "equals": b"=" * BIG,
    "a table": b"guidell" * (BIG // 7),
    "details": json.dumps(
        {"mean_ttft_ms": 1, "itls": [[0.0123] * 1000] * 1100, "ttfts": [0.5] * 1100}
    ).encode()[:BIG],
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_ten_megabytes_are_answered_within_a_second_of_cpu(name):
    assert len(LARGE[name]) <= BIG
    begun = time.process_time()
    said = everything_said(LARGE[name])
    assert said
    assert time.process_time() - begun < 2  # one, on a machine that is alone
