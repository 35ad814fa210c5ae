"""What a reader tries for themselves.

predict        guess first, then see
quiz           the self-check at the end of a chapter
bank           its questions; `judge` judges
exhibits       what a question shows: a panel, a log, curves to choose from
drills         sums with numbers of their own
rounds         practice: the questions most worth asking first
exam           one timed paper for everybody; `sitting` is a reader at work on it
answers        what this reader answered
progress       kept in their browser (by `assets/progress.js`), carried off as a file;
               `progress_view` shows it
"""
