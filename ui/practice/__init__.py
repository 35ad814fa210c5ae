"""What a reader tries for themselves.

predict        guess first, then see
quiz           the self-check at the end of a chapter
bank           its questions; `judge` judges
exhibits       what a question shows: a panel, a log, curves to choose from
drills         sums with numbers of their own
rounds         practice: the questions most worth asking first
exam           one timed paper for everybody
answers        what this reader answered
kept           what the reader's own browser keeps: progress, a sitting of the exam, what a server
               knew; `progress_view` shows the progress
"""
