"""A real model, small enough for numpy: what the rest of `sim` only counts and times, done.

tokenizer     text to token ids and back
kv_store      where K and V are kept: in one run of slots, or in blocks
transformer   token ids to logits: the formula
sampling      logits to one token
generation    the loop: the prompt in one pass, then token by token
measured      how fast the machine at hand computes both phases
speculative   a small model proposes, the large one checks
constrained/  a format decides what may come next
quantization  a scale, a grid of levels, and what is lost on the way back
fidelity      how close a model with rounded weights stays to the original
pipeline      one text through every station: tokens, steps, logits, text; with its times
proofs        the tricks of serving change nothing, on any text
"""
