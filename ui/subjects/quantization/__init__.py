"""Fewer bytes for a weight: what they buy and what they cost.

formats             what they buy: memory, decoding, prefill
rounded             the tiny model with rounded weights, computed once
rounding            what they cost: one channel, a matrix, a text
quantization_notes  the moments of rounding, in words
"""
