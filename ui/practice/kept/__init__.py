"""What the reader's own browser keeps, and what comes back from there.

progress       what was answered and guessed (by `assets/progress.js`), carried off as a file
sitting        a reader at work on a paper of the mock exam
tab            what a session knew, for a server that has never heard of it (by `assets/tab.js`)
"""
