"""Several GPUs: what each way improves, what it costs, and what masks cost a step."""

from dataclasses import replace

import pytest

from sim import specs
from sim.cost import Roofline
from sim.cost.parallel import WAYS, Parted, Spread
from sim.model.constrained.masking import MaskWork
from sim.scheduler import Load

SMALL, LARGE = specs.MODELS["Llama-3.1-8B"], specs.MODELS["Llama-3.1-70B"]
GPUS = [specs.GPUS[name] for name in ("H100 SXM", "A100 80G SXM", "RTX 4090")]
every_gpu = pytest.mark.parametrize("gpu", GPUS, ids=lambda gpu: gpu.name)


@every_gpu
def test_on_one_gpu_all_ways_are_the_same(gpu):
    times = {Spread(SMALL, gpu, 1, way).itl_seconds(32, 1_024) for way in WAYS}
    assert times == {float(Roofline(SMALL, gpu).step_time(Load.decode(32, 32 * 1_024)).seconds)}


@every_gpu
@pytest.mark.parametrize("batch", [1, 32, 256])
def test_tensor_parallelism_is_faster_but_never_as_many_times_as_there_are_gpus(gpu, batch):
    alone = Spread(SMALL, gpu, 1, "tensor").itl_seconds(batch, 1_024)
    for number in (2, 4, 8):
        gain = alone / Spread(SMALL, gpu, number, "tensor").itl_seconds(batch, 1_024)
        assert 1 < gain < number


@every_gpu
def test_a_pipeline_makes_a_single_request_slower_with_every_stage(gpu):
    times = [
        Spread(SMALL, gpu, number, "pipeline").itl_seconds(1, 1_024) for number in (1, 2, 4, 8)
    ]
    assert times == sorted(set(times))


def test_replicas_leave_a_single_request_alone():
    times = {Spread(SMALL, GPUS[0], number, "replicas").itl_seconds(1, 1_024) for number in (1, 8)}
    assert len(times) == 1


def test_only_splitting_the_model_makes_room_for_one_that_fits_no_single_gpu():
    for number in (1, 2, 4, 8):
        assert Spread(LARGE, GPUS[0], number, "replicas").pool_tokens == 0
    for way in ("tensor", "pipeline"):
        assert Spread(LARGE, GPUS[0], 1, way).pool_tokens == 0
        assert Spread(LARGE, GPUS[0], 4, way).pool_tokens > 100_000


def test_split_models_share_the_room_that_the_weights_leave():
    tensor, pipeline, copies = (Spread(SMALL, GPUS[0], 4, way).pool_tokens for way in WAYS)
    assert tensor == pytest.approx(pipeline, rel=0.03)  # less the buffers of its all-reduces
    assert copies < tensor  # each replica holds all weights again


@pytest.mark.parametrize("prompt", [256, 1_024, 4_096, 8_192])
@pytest.mark.parametrize("batch", [1, 32, 128])
@every_gpu
def test_parting_prefill_and_decode_never_serves_more_with_equal_batches_and_always_calms(
    gpu, prompt, batch
):
    parted = Parted(Roofline(SMALL, gpu), prompt, 256, batch)
    assert parted.apart_per_second <= parted.together_per_second * (1 + 1e-9)
    assert parted.quiet_itl_seconds < parted.mixed_itl_seconds
    assert parted.transfer_seconds > 0


def test_the_gpu_that_only_decodes_may_take_more_for_gaps_as_long_and_then_may_serve_more():
    parted = Parted(Roofline(SMALL, GPUS[0]), 1_024, 256, 32)
    wide = parted.with_gaps_as_long(256)
    assert wide.quiet_itl_seconds <= parted.mixed_itl_seconds
    assert replace(wide, batch=wide.batch + 1).quiet_itl_seconds > parted.mixed_itl_seconds
    assert wide.apart_per_second > 1.5 * parted.together_per_second
    assert parted.with_gaps_as_long(64).batch == 64
    assert parted.with_gaps_as_long(32) == parted


def test_the_kv_of_a_prompt_travels_at_the_speed_of_the_link():
    gpu = GPUS[2]
    parted = Parted(Roofline(SMALL, gpu), 1_024, 256, 32)
    assert parted.transfer_seconds == pytest.approx(1_024 * 131_072 / 32e9, rel=0.02)


def test_hidden_masks_cost_nothing_until_they_take_longer_than_the_step():
    clock = Roofline(SMALL, GPUS[0])
    free = MaskWork(clock, 1_024, 0.0, overlaps=True)
    most = free.longest_hidden_seconds(64)
    below, above = (MaskWork(clock, 1_024, most * share, overlaps=True) for share in (0.99, 1.5))
    assert below.step_seconds(64) == free.step_seconds(64)
    assert above.step_seconds(64) == pytest.approx(1.5 * free.step_seconds(64))


def test_masks_in_the_way_add_up_over_the_batch():
    clock = Roofline(SMALL, GPUS[0])
    free, waits = (MaskWork(clock, 1_024, seconds, overlaps=False) for seconds in (0.0, 1e-3))
    for batch in (1, 64):
        more = waits.step_seconds(batch) - free.step_seconds(batch)
        assert more == pytest.approx(batch * 1e-3)


def test_every_replica_brings_a_pool_of_its_own():
    one, four = (Spread(SMALL, GPUS[0], number, "replicas").pool_tokens for number in (1, 4))
    assert four == 4 * one


def test_replicas_serve_as_many_times_as_much_as_there_are():
    one, four = (Spread(SMALL, GPUS[0], number, "replicas") for number in (1, 4))
    assert one.tokens_per_second(8, 1_024) == 8 / one.itl_seconds(8, 1_024)
    assert four.tokens_per_second(32, 1_024) == pytest.approx(4 * one.tokens_per_second(8, 1_024))


def test_a_pipeline_pays_a_hop_between_stages_by_hand():
    """4 stages are 3 hops, each with 8 of 32 tokens of 4,096 numbers in bf16 over PCIe 4.0."""
    gpu = GPUS[2]
    clock = Roofline(SMALL, gpu)
    hop = clock.used_efficiency.fixed_seconds + 12e-6 + 8 * 4_096 * 2 / 32e9
    quarter = float(clock.step_time(Load.decode(8, 8 * 1_024)).seconds)
    pipeline = Spread(SMALL, gpu, 4, "pipeline")
    assert pipeline.itl_seconds(32, 1_024) == pytest.approx(quarter + 3 * hop)


def test_what_a_request_needs_of_each_of_two_gpus_by_hand():
    """A decode step stands half-way through the answer: a context of 1,024 + 128."""
    clock = Roofline(SMALL, GPUS[0])
    parted = Parted(clock, prompt_tokens=1_024, output_tokens=256, batch=32)
    step = float(clock.step_time(Load.decode(32, 32 * 1_152)).seconds)
    assert parted.quiet_itl_seconds == step
    assert parted.decode_seconds == pytest.approx(8 * step)  # 256 steps, shared by 32
    assert parted.prefill_seconds == clock.step_time(Load(1_024, 1_024, 1_024**2 / 2, 1, 1_024))[0]
    together, apart = parted.together_per_second, parted.apart_per_second
    assert together == pytest.approx(2 / (parted.prefill_seconds + 8 * step))
    assert apart == pytest.approx(1 / max(parted.prefill_seconds, 8 * step))
