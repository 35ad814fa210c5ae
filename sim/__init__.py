"""A serving system for large language models, small enough to read.

Reading order; imports point up this list, never back (`pyproject.toml` has it as a contract):

    errors     what can be wrong, as a code with values
    specs      models and GPUs, each with its source
    request    one request, and how far it has come
    workload   who asks, when, for how much
    events     what happened in a step, as typed facts
    kv         who owns which memory
    scheduler  who goes next
    cost       how long a step takes
    engine     the loop: schedule, time, advance
    metrics    TTFT, ITL, TPOT, throughput, goodput

Rooms beside it:

    model      a real tiny model, small enough for numpy
    views      what pictures read from a run
    studies    experiments made of runs, and the clinic of sick servers
    replay     ours against records of the real engines
"""

import os

# Threads do not help with matrices this small, and on a busy machine they wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy looks when it is imported
