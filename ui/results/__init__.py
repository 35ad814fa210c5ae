"""What comes out of a run, for whom it concerns.

runs          runs of the simulation, kept: the same setup is computed once
apart         those that take long, in a process of their own (apart_child)
cards         the numbers of a result, in one row
run_cards     those of a whole run
run_pictures  its requests, its load, its limits
compare       a run that is kept as A, beside the one on the page
curves        the same server again and again, one point per run
take_along    what a reader carries off: the link and these three
downloads       its results as files
serve_command   the `vllm serve` command that matches it
engine_log      what vLLM's log would have said
"""
