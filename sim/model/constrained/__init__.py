"""Constrained decoding: a format decides what may come next.

pattern      a regular expression, read into a tree
json_schema  a schema as a regular expression
             (schema_values: what its values exclude; schema_parts: pieces of the pattern)
automaton    one state says all that matters of the text so far
index        the automaton over a vocabulary masks the sampler; what is forced is jumped over
masking      what that costs the CPU, and when it shows
"""
