"""The hot loop: prompts beside decodes under one budget, written out.

Most steps of a busy server are of this kind.  `Chunked.group_batch` and `Simulation` would take
them too; this is the same choice and the same bookkeeping without a batch to hand on, in about
half the time.  It holds while budget and blocks suffice for everybody who runs and prompts
come one after another (`Chunked.is_plain`): the group takes its tokens, then the one prompt that is
begun, then those who wait.  A step of another kind ends the loop before it has begun.
"""

import math

from sim.engine.run import Watch
from sim.engine.simulation import Simulation
from sim.request import Sequence
from sim.scheduler import Chunked, Load


def serve(simulation: Simulation, policy: Chunked, watch: Watch) -> None:
    """Take steps from where the run stands on, for as long as they are of the usual kind."""
    inbox, ledger, memory = simulation.inbox, simulation.ledger, simulation.memory
    waiting, running, decoding = simulation.waiting, simulation.running, simulation.decoding
    block_size, max_num_seqs = memory.block_size, policy.max_num_seqs
    begun = decoding.others(running)
    if len(begun) > 1:  # those whom the budget did not reach
        return

    while True:
        watch()
        while inbox.next_seconds <= simulation.now:
            simulation.arrive()

        # Those who run: is there enough for all of them?
        budget = policy.max_num_batched_tokens - decoding.num
        num_blocks = decoding.num_blocks_due()
        work: list[tuple[Sequence, int]] = []  # (who, tokens)
        if begun:
            sequence = begun[0]
            computed = sequence.num_computed_tokens
            num_tokens = min(sequence.num_tokens - computed, budget)
            work.append((sequence, num_tokens))
            num_blocks += -(-(computed + num_tokens) // block_size) + (-computed // block_size)
            budget -= num_tokens
        if num_blocks > memory.num_free_blocks or budget < 0 or (begun and num_tokens <= 0):
            return
        memory.take(num_blocks)
        if begun and sequence.request.prefix:
            memory.share(sequence, computed + num_tokens)

        # Those who wait, in order of arrival; the first that finds no memory stops the line.
        num_admitted = 0
        while waiting and budget > 0 and len(running) < max_num_seqs:
            sequence = waiting[0]
            hits = memory.match_prefix(sequence)
            hit_tokens = len(hits) * block_size
            num_tokens = min(sequence.num_tokens - hit_tokens, budget)
            if not policy.has_room(sequence, hit_tokens + num_tokens, hits, running, memory):
                break
            running.append(waiting.popleft())
            sequence.num_computed_tokens = hit_tokens
            simulation.admitted(sequence, hit_tokens, resumed=sequence.num_preemptions > 0)
            work.append((sequence, num_tokens))
            num_admitted += 1
            budget -= num_tokens

        if not work:
            if decoding.num == 0:
                return
            line_stands = bool(waiting) or len(running) >= max_num_seqs or budget == 0
            simulation.decode(decoding.load, math.inf if line_stands else inbox.next_seconds)
            continue

        # How long it takes.
        num_decode = num_sampled = tokens = decoding.num
        kv_tokens = decoding.context + tokens
        twice_attended = 2 * kv_tokens - tokens
        prompt_tokens = 0
        begun = []
        sampled: list[Sequence] = []
        for sequence, num_tokens in work:
            context = sequence.num_computed_tokens = sequence.num_computed_tokens + num_tokens
            tokens += num_tokens
            kv_tokens += context
            twice_attended += num_tokens * (2 * context - num_tokens)
            if context < sequence.num_tokens:
                begun = [sequence]
            else:
                sampled.append(sequence)
                num_sampled += 1
            if num_tokens > 1 or context == 1:
                prompt_tokens += num_tokens
            elif sequence.num_output_tokens and context == sequence.num_tokens:
                num_decode += 1
        load = Load(tokens, kv_tokens, twice_attended / 2, num_sampled, prompt_tokens)
        ledger.line(
            1, len(running), tokens - num_decode, num_decode, num_sampled, True, num_admitted
        )
        time = simulation.clock.step_time(load)
        simulation.now = ledger.step(simulation.now, time, memory.num_used_blocks)

        # What changed.
        decoding.tick()
        for sequence in sampled:
            sequence.append_token()
        if sampled or decoding.next_done == decoding.ticks:
            simulation.sampled(sampled)
