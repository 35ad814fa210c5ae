"""What outlives a session in the reader's browser, beside their progress.

sitting        a reader at work on a paper of the mock exam
tab            what their tab keeps of a session, for a server that has never heard of it
"""
