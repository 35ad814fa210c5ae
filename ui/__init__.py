"""The reader's side: everything that pages share.  It knows no scheduling.

Reading order; imports point up this list, never back (`pyproject.toml` has it as a contract):

    files       where the files of the project are
    theme       one meaning, one colour, one pattern
    words       two languages; numbers, events and faults in words
    course      the chapters, their text and terms; a link is a state
    charts      result charts, all in one style
    player      the step player and its painters
    tiny_model  the tiny model that ships with the app, and its tokens
    results     runs that are kept; their numbers, curves, files
    controls    sliders and choices; all knobs of a server and of its traffic
    subjects    a folder for each subject: its pictures, and its words beside them
    practice    guess first, self-check, practice, mock exam, progress
    page        what surrounds every chapter; home, and what looks over all chapters
    lesson      a chapter and its acts: what pages call
"""
