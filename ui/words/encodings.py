"""Bytes of a file as text, in the encoding that they show by themselves.

PowerShell writes UTF-16, editors put a mark in front.
"""

import codecs

MARKS = (  # the longer one first: UTF-32 begins like UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decoded(data: bytes) -> str:
    """Raises: UnicodeDecodeError."""
    return data.decode(_encoding(data))


def _encoding(data: bytes) -> str:
    for mark, name in MARKS:
        if data.startswith(mark):
            return name
    head = data[:1000]
    if head[1::2].count(0) > len(head) / 4:  # Latin letters, each with an empty byte behind
        return "utf-16-le"
    return "utf-16-be" if head[::2].count(0) > len(head) / 4 else "utf-8"
