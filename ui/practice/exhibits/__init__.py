"""What a question shows before it asks, all of it from runs of `sim`.

quiz_curves  a figure of several curves, one of which is right
evidence     a table, a log or a figure to be read
observed     the runs behind it
"""
