"""The whole run at once: the same steps as `steps`, many at a time, with the same results.

What makes it fast stands in `simulation`; the usual kind of step is written out once more in
`plain`.

An answer that others may find in the prefix cache while it is still being written (`Request.prefix`
reaches into it) is no uniform stretch: such a run is taken step by step.  So is one with
speculation, in which every step of every request may yield another number of tokens, and one whose
policy asks every request at every step (`Policy.takes_groups`).
"""

from sim.engine import plain
from sim.engine.run import Run, Watch, run_by_steps, unwatched
from sim.engine.setup import Setup
from sim.engine.simulation import Simulation
from sim.scheduler import Chunked


def simulate(setup: Setup, watch: Watch = unwatched) -> Run:
    """Run the setup to its end and keep what metrics need.

    `watch` is called at every step that is taken by itself; what it raises ends the run.

    Raises:
        SimError: `no_progress` when requests wait that can never be scheduled.
    """
    if setup.speculation is not None or not setup.policy.takes_groups:
        return run_by_steps(setup, watch)
    if any(r.prefix and r.named_tokens > r.prompt_tokens for r in setup.requests):
        return run_by_steps(setup, watch)
    simulation = Simulation(setup)
    policy = setup.policy
    while simulation.goes_on:
        if isinstance(policy, Chunked) and policy.is_plain and simulation.memory.grows:
            plain.serve(simulation, policy, watch)
        watch()
        simulation.move_on()
    return simulation.ledger.close()
