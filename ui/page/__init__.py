"""Around the chapters, and over all of them.

frame          what surrounds every page: chapter list, language, styles, lecture view
home           the home page
beforehand     one question at the door of a chapter
miniatures     a small picture for each chapter's card
concepts       a sentence for each concept, and the chapter that shows it
look_up        lists that are searched: glossary_list, every term; source_list, every source
web            on the way to the browser: compression, headers, counts (`serve.py`)
summary        the course on two sheets, to print
"""
