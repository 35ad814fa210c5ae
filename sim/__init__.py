"""A serving system for large language models, small enough to read.

Reading order; imports point up this list, never back:

    errors       what can be wrong, as a code with values
    specs        models and GPUs, each with its source
    request      one request, and how far it has come
    workload     who asks, when, for how much
    prompts      who says what: whatever begins alike is shared
    traces       who asked: recorded traffic, from a file
    events       what happened in a step, as typed facts
    kv           who owns which memory
    visits       requests come and leave: what that does to the blocks of a pool
    tree_server  a queue before a radix tree: who looks up, locks, computes, evicts
    caches       the same requests through hashed blocks and through the tree
    scheduler    who goes next
    cost         how long a step takes
    phases       prefill and decode: two shapes of work, and where the bottleneck changes
    launches     how a step reaches the GPU: kernel by kernel, as a graph, prepared ahead
    formats      the same model in fewer bytes: memory, decoding, prefill
    engine       the loop: schedule, time, advance
    server       a server before its traffic, put together from names and numbers
    slots        who sits in which slot, step by step
    growth       whose KV lies on the GPU, step by step
    occupancy    what every slot of KV memory holds, step by step
    waste        what KV memory holds while requests queue for it; what preemptions cost
    forks        several answers to one prompt on shared blocks
    stations     one request from arrival to text, with what the host does around the engine
    metrics      TTFT, ITL, TPOT, throughput, goodput; over time
    tenants      what one user can find out about another, and the salt against it
    replicas     several servers behind a router, each with its own cache
    parallel     one model on several GPUs: split, in line, copied, parted
    masking      what constrained decoding costs the CPU, and when that shows
    pressure     three answers to full KV memory, on the same requests
    ablation     from a naive server to a modern one, one mechanism at a time
    clinic       sick servers: what their panel shows, what cures them
    streaming    what a client measures: messages, and what each tool calls ITL and TPOT
    stalls       what a prefill costs those who decode beside it
    sweep        one knob through many values, where the knee is, where a difference changes sign
    replay       ours against records of the real engines

A real model, small enough for numpy:

    tokenizer    text to token ids and back
    kv_store     where K and V are kept: in one run of slots, or in blocks
    transformer  token ids to logits: the formula
    sampling     logits to one token
    generation   the loop: the prompt in one pass, then token by token
    measured     how fast the machine at hand computes both phases
    speculative  a small model proposes, the large one checks
    acceptance   what speculation is worth, by formula, by lot and under load
    drills       sums with numbers drawn by a seed, and what each mistake would give
    pattern      a regular expression, read into a tree
    automaton    one state says all that matters of the text so far
    json_schema  a schema as a regular expression
    constrained  the automaton masks the sampler; what is forced is jumped over
    quantization  a scale, a grid of levels, and what is lost on the way back
    fidelity     how close a model with rounded weights stays to the original
    pipeline     one text through every station: tokens, steps, logits, text; with its times
    proofs       the tricks of serving change nothing, on any text
"""

import os

# Threads do not help with matrices this small, and on a busy machine they wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy looks when it is imported
