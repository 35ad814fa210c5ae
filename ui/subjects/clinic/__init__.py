"""The clinic: a panel and three questions, what a reader turns, and metrics of their own.

questions        the three questions and the cases, in words (cases.zh.md, cases.en.md)
pictures         the panel over time, readings at their limits
treatment        what the reader of a sick server may turn
as_engines_say   the same panel as metrics by name and lines of a log
bring            metrics of a server of the reader's own, answered
metrics_text     their text, read
metrics_example  a text to begin with
"""
