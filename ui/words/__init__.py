"""In words: two languages, numbers with units, what happened, what is wrong.

language  which of the two this reader reads, and words side by side
numbers   a unit, and at most three significant digits
notes     what happened in a step of the engine: a function for each event
encodings bytes of a file as text
problems  what is wrong: what was given, where, and what was expected
"""
