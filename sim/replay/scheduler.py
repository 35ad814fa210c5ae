"""Our scheduler and block pool against step-by-step records of the real vLLM V1 scheduler.

A case has `config`, `requests` (token ids, and the step before which each arrives) and the `steps`
the real scheduler took.  Every step is compared: order, token counts, hits, preemptions, block ids,
free blocks, who finished.
"""

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from sim.engine import advance
from sim.errors import require
from sim.kv import Paged
from sim.replay.records import Mismatch, Replay, number, reading, switch, tokens
from sim.request import Request, Sequence
from sim.scheduler import Batch, Chunked

MAX_MODEL_LEN = 4096
CONFIG_KEYS = {
    "num_blocks",
    "block_size",
    "max_num_seqs",
    "max_num_batched_tokens",
    "prefix_caching",
    "chunked_prefill",
    "long_prefill_token_threshold",
    "policy",
    "max_model_len",
}


@dataclass(frozen=True)
class TokenRequest(Request):
    """A request whose tokens are known one by one, generated ones included."""

    prompt: tuple[int, ...] = ()

    def token(self, index: int) -> int:
        generated = index - len(self.prompt)
        return self.prompt[index] if generated < 0 else generated_token(self.id, generated)

    def block_content(self, index: int, block_size: int) -> Hashable:
        return tuple(map(self.token, range(index * block_size, (index + 1) * block_size)))


def generated_token(request_number: int, index: int) -> int:
    """The records' rule for the index-th generated token of request "r<number>"."""
    return 2000 + (request_number * 37 + index * 11) % 500


def replay_case(name: str, case: dict[str, Any]) -> Replay:
    """Run one case and compare every step.

    Raises:
        SimError: `replay_bad_case`.
    """
    with reading(name):
        policy, settings = _settings(case["config"])
        arrivals = [(number(row["step"]), _request(row)) for row in case["requests"]]
        recorded = _recorded(case["steps"])
        ids = [request.id for _, request in arrivals]
        require(len(set(ids)) == len(ids), "duplicate_request_id")
    unknown = tuple(sorted(set(case["config"]) - CONFIG_KEYS))

    memory, waiting, running = settings.open(), deque[Sequence](), list[Sequence]()
    for index, theirs in enumerate(recorded):
        waiting.extend(
            Sequence(request, policy.max_model_len) for step, request in arrivals if step == index
        )
        batch = policy.next_batch(0.0, waiting, running, memory)
        blocks = {_name(s): list(memory.block_tables[s.id]) for s in running}
        ours = _describe(batch, waiting, running, blocks, memory.num_free_blocks)
        advance(batch)
        leaving = policy.leaving(
            [sequence for sequence, _ in batch.work if sequence.is_finished], running
        )
        ours["finished"] = sorted(_name(s) for s in leaving)
        for sequence in leaving:
            memory.free(sequence)
        running = [sequence for sequence in running if sequence not in leaving]
        mismatches = _compare(index, ours if batch.work else None, theirs)
        if mismatches:
            return Replay(name, index + 1, tuple(mismatches), unknown)
    return Replay(name, len(recorded), (), unknown)


# -- inside -----------------------------------------------------------------------------------


def _settings(config: dict[str, Any]) -> tuple[Chunked, Paged]:
    order = str(config.get("policy", "fcfs"))
    require(order.lower() == "fcfs", "replay_other_policy", policy=order)
    policy = Chunked(
        max_num_seqs=number(config["max_num_seqs"]),
        max_num_batched_tokens=number(config["max_num_batched_tokens"]),
        chunked_prefill=switch(config.get("chunked_prefill", True)),
        long_prefill_token_threshold=number(config.get("long_prefill_token_threshold", 0)),
        max_model_len=number(config.get("max_model_len", MAX_MODEL_LEN), least=1),
    )
    return policy, Paged(
        number(config["num_blocks"]),
        number(config["block_size"]),
        switch(config.get("prefix_caching", True)),
    )


def _request(row: dict[str, Any]) -> TokenRequest:
    request_number = number(int(row["id"].removeprefix("r")))
    prompt, max_tokens = tokens(row["prompt"]), number(row["max_tokens"])
    return TokenRequest(request_number, 0.0, len(prompt), max_tokens, prompt=prompt)


def _recorded(recorded: list[dict[str, Any] | None]) -> list[dict[str, Any] | None]:
    """The steps, once it is sure that they are steps."""
    require(isinstance(recorded, list) and bool(recorded), "replay_no_steps")
    for index, step in enumerate(recorded):
        if step is not None:
            require(isinstance(step["scheduled"], dict), "replay_no_steps", step=index)
    return recorded


def _name(sequence: Sequence) -> str:
    return f"r{sequence.id}"


def _describe(
    batch: Batch,
    waiting: deque[Sequence],
    running: list[Sequence],
    blocks: dict[str, list[int]],
    num_free: int,
) -> dict[str, Any]:
    """A step in the words of the records; lists keep the scheduler's order."""
    new = [admission for admission in batch.admitted if not admission.resumed]
    return {
        "scheduled": {_name(sequence): num_tokens for sequence, num_tokens in batch.work},
        "new": [_name(admission.sequence) for admission in new],
        "resumed": [_name(a.sequence) for a in batch.admitted if a.resumed],
        "preempted": [_name(sequence) for sequence, _ in batch.preempted],
        "cached": {_name(admission.sequence): admission.hit_tokens for admission in new},
        "running": [_name(sequence) for sequence in running],
        "waiting": [_name(sequence) for sequence in waiting],
        "blocks": blocks,
        "free": num_free,
    }


def _compare(
    step: int, ours: dict[str, Any] | None, theirs: dict[str, Any] | None
) -> list[Mismatch]:
    if ours is None or theirs is None:
        return [] if ours is theirs else [Mismatch(step, "step", ours, theirs)]
    ours["preempted"].reverse()  # we note victims as they fall, the records in running order
    mismatches = [
        Mismatch(step, key, ours.get(key), value)
        for key, value in theirs.items()
        if ours.get(key) != value
    ]
    if list(ours["scheduled"]) != list(theirs["scheduled"]):
        mismatches.append(Mismatch(step, "order", ours["scheduled"], theirs["scheduled"]))
    return mismatches
