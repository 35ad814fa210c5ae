"""What the course consists of, and the addresses that lead into it.

prose     chapter text: one Markdown file per language, cut into named sections
chapters  the list of chapters, in reading order
outline   their acts, read off their scripts
state     the state of a page lives in its URL
visited   which acts this reader opened, and the last one
links     to a chapter as this reader left it, or into a stated state
sources   what was measured elsewhere, told where it is quoted
glossary  terms, explained where they stand
"""
