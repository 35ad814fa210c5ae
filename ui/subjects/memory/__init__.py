"""KV memory: what it takes, who owns which block, what is lost of it.

pictures         what lies on a GPU, what the formulas give
growth_pictures  how it fills and empties during a run
starting         a server about to start: its memory, commands, what would make it fit
blocks           maps of it and block tables: who owns which
memory_notes     who gets what, who waits and why, in words
wasted           shares of a real load that are lost
"""
