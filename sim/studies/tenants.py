"""Tenants of one server: what one can find out about another's prompts, and the salt against it.

A prompt that somebody has sent before is answered sooner, whoever that was.  So a tenant can try
texts and see by their TTFT which one another tenant has sent.  A salt goes into the hash of the
first block; as each hash goes into the next, no block behind it is found by anybody with another
salt.

Source: CVE-2025-46570; https://github.com/vllm-project/vllm/issues/16016 (`cache_salt`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sim.engine import Run
from sim.errors import require
from sim.metrics import ttft
from sim.request import Request, Segment

SALTS = ("none", "tenant", "request")  # one for each tenant, one for each request


@dataclass(frozen=True)
class Probe:
    """Tenant A sends one of several documents; tenant B asks about each of them, one by one.

    All prompts begin with the same system prompt.  B has sent it once before.
    """

    system_tokens: int = 1_024
    document_tokens: int = 2_048
    question_tokens: int = 24
    num_documents: int = 4
    secret: int = 2  # the document that A has sent, from 0 on
    gap_seconds: float = 4.0

    def requests(self, salt: str) -> tuple[Request, ...]:
        """A's request, B's first one, then B's probes, one every `gap_seconds`.

        Raises:
            SimError: `salt_unknown`.
        """
        require(salt in SALTS, "salt_unknown", value=salt)
        system = Segment("system", self.system_tokens)
        documents = [
            Segment(f"document-{number}", self.document_tokens)
            for number in range(self.num_documents)
        ]
        asked = [("A", (system, documents[self.secret])), ("B", (system,))]
        asked += [("B", (system, document)) for document in documents]
        plain = [
            Request(
                who,
                who * self.gap_seconds,
                sum(text.num_tokens for text in texts) + self.question_tokens,
                8,
                texts,
            )
            for who, (_, texts) in enumerate(asked)
        ]
        salts = {
            "none": [""] * len(asked),
            "tenant": [tenant for tenant, _ in asked],
            "request": [str(who) for who in range(len(asked))],
        }
        return salted(plain, salts[salt])

    def with_each_salt(self) -> dict[str, tuple[Request, ...]]:
        return {salt: self.requests(salt) for salt in SALTS}


@dataclass(frozen=True)
class Probed:
    """What B's clock shows: TTFT in seconds."""

    first: float  # of B's first request
    fastest: float  # of its probes
    slowest: float

    @classmethod
    def of(cls, run: Run) -> "Probed":
        """Of a run of `Probe.requests`."""
        _, first, *probes = (ttft(record) for record in run.records)
        return cls(first, min(probes), max(probes))


def salted(requests: Sequence[Request], salts: Sequence[str]) -> tuple[Request, ...]:
    """The same requests, each with its salt; "" is no salt.

    The salt becomes part of the name of the first segment, as it is part of the first block's hash.
    """
    return tuple(
        replace(request, prefix=_salted(request.prefix, salt)) if salt else request
        for request, salt in zip(requests, salts, strict=True)
    )


def _salted(prefix: tuple[Segment, ...], salt: str) -> tuple[Segment, ...]:
    if not prefix:
        return ()
    first, *rest = prefix
    return (replace(first, id=f"{salt}|{first.id}"), *rest)
