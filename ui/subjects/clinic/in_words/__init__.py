"""A sick server in words.

questions       the three questions and the cases (cases.zh.md, cases.en.md)
more_readings   what else stands on its panel
as_engines_say  the same panel as metrics by name and lines of a log
"""
