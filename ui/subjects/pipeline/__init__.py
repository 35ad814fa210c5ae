"""One text through every station of a server, computed by the real tiny model.

pictures        the way itself, as frames
pipeline_notes  what happens at each station, in words
model_pictures  inside: attention, and what may come next
text_so_far     bytes become characters: what a client may show
"""
