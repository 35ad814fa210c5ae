"""What prompts share, what a hit saves, and on which of several servers.

prompts      texts that begin alike, in tokens
pictures     computed and reused tokens, hit rates, pools
hash_chain   a prompt's hashes beside those of a cached one
pool_walk    a pool of blocks while requests come and leave
block_notes  what happens to hashed blocks, in words
trees        the radix tree and its server
tree_notes   what happens in the tree, in words
fleets       several servers behind a router
"""
