"""Our parts against step-by-step records of the real ones.

    python -m sim.replay tests/golden/scheduler_steps.json
    python -m sim.replay --radix tests/golden/radix_operations.json

    records      what any record must be, and how a replay went
    scheduler    scheduler and block pool against vLLM V1
    radix        the radix tree against SGLang

Exits 1 on any mismatch, 2 on a file that cannot be read.
"""
