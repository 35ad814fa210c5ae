"""The clinic: a panel and three questions, what a reader turns, and metrics of their own.

questions        the three questions and the cases, in words (cases.zh.md, cases.en.md)
pictures         the panel over time, readings at their limits
treatment        what the reader of a sick server may turn
as_engines_say   the same panel as metrics by name and lines of a log
bring            what readers bring of a server of their own: answered, beside its limits
verdicts         the three answers to it, as sure as its data
brought          what readers bring, read
brought_notes    what is wrong with it, and what to know of it, in words
metrics_text     the newest of it, and the last good one
metrics_example  a text to begin with
"""
