"""What pictures read from a run, or from memory that is walked through without one.

slots      who sits in which slot, step by step
growth     whose KV lies on the GPU, step by step
occupancy  what every slot of KV memory holds, step by step
waste      what KV memory holds while requests queue for it; what preemptions cost
visits     requests come and leave: what that does to the blocks of a pool
forks      several answers to one prompt on shared blocks
stations   one request from arrival to text, with what the host does around the engine
stalls     what a prefill costs those who decode beside it
lives      the life of a request: queue, prefill, decode, interruptions
over_time  rates by window, and what the engine's log would have said
streaming  what a client measures: messages, and what each tool calls ITL and TPOT

A view decides nothing: it retells a run in the terms of one picture.
"""
