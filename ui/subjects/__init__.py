"""A folder for each subject: its pictures, and its words beside them.

What is drawn of a subject is `pictures` and what is named for it; a sentence for each moment stands
in `..._notes`.  A subject knows no other.

batching      slots, steps, chunks: who shares a step with whom
phases        prefill and decode: two shapes of work; measured on this machine
pipeline      one text, station by station, through the real tiny model
latency       where time goes; what a client measures
memory        what KV takes, who owns which block, what is lost
prefix        hash chain, radix tree, what a hit saves; several servers
speculation   rounds of draft and target, and what they are worth
launches      CPU and GPU on one time axis
quantization  what fewer bytes buy, and what rounding costs
constrained   a format, its masks, its index
systems       what each mechanism brings; several GPUs; three answers to full memory
clinic        a panel and three questions; cures; the metrics of a reader's own server
"""
