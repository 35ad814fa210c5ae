"""Experiments made of runs: the same server again and again, and what the comparison says.

sweep        one knob through many values, where the knee is, where a difference changes sign
ablation     from a naive server to a modern one, one mechanism at a time
fitting      whether a model fits some GPUs, what engines would log, what would make it fit
pressure     three answers to full KV memory, on the same requests
replicas     several servers behind a router, each with its own cache
tenants      what one user can find out about another, and the salt against it
tree_server  a queue before a radix tree: who looks up, locks, computes, evicts
caches       the same requests through hashed blocks and through the tree
acceptance   what speculation is worth, by formula, by lot and under load
clinic/      simulated sick servers: what their panel shows, what cures them
drills       sums with numbers drawn by a seed, and what each mistake would give
"""
