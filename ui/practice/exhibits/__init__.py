"""What a question shows before it asks: figures, panels, logs, all from runs of `sim`.

curves   a figure of several curves, one of which is right
panels   a table, a log or a figure to be read, and how it is drawn; put together of
servers    the runs behind them
"""
