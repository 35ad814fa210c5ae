"""The clinic: a panel and three questions, what a reader turns, and metrics of their own."""
