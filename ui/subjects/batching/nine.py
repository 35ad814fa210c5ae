"""Nine requests that home and chapter 5 serve in several ways, on a clock without a machine."""

from sim.cost import SimpleClock
from sim.kv import Paged

TICK_SECONDS = 1 / 64  # one step; a power of two, so that sums of steps are exact
CLOCK = SimpleClock(prefill_tokens_per_second=20_000, decode_seconds_per_step=TICK_SECONDS)
PLENTY = Paged(num_blocks=65_536)
PROMPT_TOKENS = 16
OUTPUTS = (10, 100, 30, 50, 20, 40, 60, 15, 25)  # tokens that A, B, C ... will write
