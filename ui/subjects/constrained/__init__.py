"""Constrained decoding: a reader's format, its masks, its index over tokens.

grammar        the format, and what the tiny model wrote in it, as frames
grammar_notes  what happened to a token, what is wrong with a format
token_index    the index by outlines-core, in a process of its own (index_child)
"""
