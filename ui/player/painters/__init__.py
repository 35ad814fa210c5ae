"""Kinds of pictures that a step player can show.

Each is a subclass of `ui.player.Frames` (what is drawn, how it travels) and a module of the same
name in `assets/player/painters/` (how it is laid out and painted).  The verbs that the two answer
stand in `ui/player/encoding.py` and `assets/player/player.js`; nothing else knows which painters
there are.
"""
