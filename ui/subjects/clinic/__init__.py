"""The clinic: a panel and three questions, what a reader turns, and metrics of their own.

in_words         the three questions, the cases, and what else stands on a panel
pictures         the panel over time, readings at their limits
treatment        what the reader of a sick server may turn
bring            what readers bring of a server of their own: answered, beside its limits
verdicts         the three answers to it, as sure as its data
brought          what readers bring, read
brought_notes    what is wrong with it, and what to know of it, in words
metrics_text     the newest of it, and the last good one
metrics_example  a text to begin with
"""
