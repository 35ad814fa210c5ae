"""What a reader brings of a server of their own: read as whoever wrote it meant it, never trusted.

Reading order; all of it is pure, and words for what it finds stand in `ui.subjects.clinic`:

found         what a text says of a server, and how surely
texts         bytes as people have them, as lines
scrapes       lines of /metrics as series, and one scrape after the other
by_engine     which series says what, by engine; a percentile from its buckets
exposed       the text of /metrics, read
client_run    one run as a client measured it, and what of it is a latency
bench         what `vllm bench serve` and SGLang's `bench_serving` write or print
results       the result of any tool that is known, read
"""
