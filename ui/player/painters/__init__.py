"""Kinds of pictures that a step player can show.

Each is a subclass of `ui.player.Frames` (what is drawn, how it travels) and a module of the same
name in `assets/player/painters/` (how it is laid out and painted).  The verbs that the two answer
stand in `ui/player/encoding.py` and `assets/player/player.js`; nothing else knows which painters
there are.

slots         who sits in which slot at which step
timeline      lanes of coloured spans on one axis of seconds
passes        rows that go through a model, weights, KV read
pipeline      the stations of a server; crowd: many requests on them
memory_map    what lies where in KV memory
block_tables  logical blocks on physical ones
shelves       blocks with what lies in them
tree          the radix tree
tape          tokens, and proposals below them
grammar       a format, its states, what may come next
rounding      weights of one channel, rounded
"""
