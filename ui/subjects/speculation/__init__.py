"""Speculative decoding: rounds of draft and target, and what they are worth.

written_rounds     rounds on a text, as a tape
speculation_notes  the moments of a round, in words
pictures           what rounds are worth, alone and under load; the proof
"""
