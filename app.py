"""Home: what the course is about, at work; three questions; the chapters, what you have done."""

from sim import scheduler, workload
from sim.engine import Setup
from ui.page import home
from ui.subjects.batching.nine import CLOCK, OUTPUTS, PLENTY, PROMPT_TOKENS, TICK_SECONDS

REQUESTS = workload.of_lengths(OUTPUTS, PROMPT_TOKENS)
SLOTS = 3

home.show(
    __file__,
    {
        "static": Setup(REQUESTS, scheduler.Static(SLOTS), PLENTY, CLOCK),
        "continuous": Setup(REQUESTS, scheduler.Continuous(SLOTS), PLENTY, CLOCK),
    },
    TICK_SECONDS,
)
