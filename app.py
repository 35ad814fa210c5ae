"""Home: what the course is about, at work; three questions; the chapters, what you have done."""

from sim import scheduler, workload
from sim.cost import SimpleClock
from sim.engine import Setup
from sim.kv import Paged
from ui.page import home

TICK_SECONDS = 1 / 64  # one step; a power of two, so that sums of steps are exact
CLOCK = SimpleClock(prefill_tokens_per_second=20_000, decode_seconds_per_step=TICK_SECONDS)
PLENTY = Paged(num_blocks=65_536)
OUTPUTS = (
    10,
    100,
    30,
    50,
    20,
    40,
    60,
    15,
    25,
)  # tokens that A, B, C ... will write, as in chapter 5
REQUESTS = workload.of_lengths(OUTPUTS, prompt_tokens=16)
SLOTS = 3

home.show(
    __file__,
    {
        "static": Setup(REQUESTS, scheduler.Static(SLOTS), PLENTY, CLOCK),
        "continuous": Setup(REQUESTS, scheduler.Continuous(SLOTS), PLENTY, CLOCK),
    },
    TICK_SECONDS,
)
