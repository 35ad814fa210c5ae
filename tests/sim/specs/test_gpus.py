"""The table of GPUs says what data sheets say, and what torch and nccl-tests report."""

import pytest

from sim import specs
from sim.specs import GIB, GPUS

# name -> FLOP per byte at the ridge by the data sheet; GiB as torch reports them
KNOWN_GPUS = {
    "A100 40G SXM": (201, 39.49),
    "A100 80G SXM": (153, 79.25),
    "H100 SXM": (295, 79.19),
    "H200 SXM": (206, 139.80),
    "H20": (37, 95.22),
    "B200 SXM": (292, 178.35),
    "MI300X": (247, 191.98),
    "L4": (403, 22.03),
    "L40S": (419, 44.39),
    "RTX 3090": (76, 23.58),
    "RTX 4090": (164, 23.52),
    "RTX 5090": (117, 31.36),
    "RTX PRO 6000": (293, 94.97),
    "RTX A6000": (202, 47.53),
}


@pytest.mark.parametrize("name", KNOWN_GPUS)
def test_a_gpu_has_the_ridge_of_its_data_sheet_and_the_memory_that_torch_reports(name):
    ridge, gib = KNOWN_GPUS[name]
    assert round(GPUS[name].ridge) == ridge
    assert GPUS[name].memory_bytes / GIB == pytest.approx(gib, abs=0.006)


def test_every_gpu_is_known_here_and_names_its_source():
    assert list(GPUS) == [gpu.name for gpu in GPUS.values()]
    assert set(GPUS) == set(KNOWN_GPUS)
    assert all(gpu.source and gpu.efficiency.source and gpu.link.source for gpu in GPUS.values())


def test_only_the_two_gpus_with_a_measured_run_say_calibrated():
    calibrated = {name for name, gpu in GPUS.items() if gpu.efficiency.calibrated}
    assert calibrated == {"RTX 4090", "RTX PRO 6000"}


def test_efficiencies_moved_by_the_reader_do_not_stay_calibrated():
    moved = GPUS["RTX 4090"].with_efficiency(specs.Efficiency(0.5, 0.5))
    assert not moved.efficiency.calibrated
    assert GPUS["RTX 4090"].efficiency.calibrated


def test_fp8_arithmetic_begins_with_ada_and_hopper_and_int8_is_everywhere():
    assert {name for name, gpu in GPUS.items() if not gpu.speedup("fp8")} == {
        "A100 40G SXM",
        "A100 80G SXM",
        "RTX 3090",
        "RTX A6000",
    }
    assert all(gpu.speedup("int8") for gpu in GPUS.values())


def test_nccl_reaches_less_than_the_data_sheet_and_far_less_without_peer_access():
    for gpu in GPUS.values():
        assert gpu.link.all_reduce_bandwidth < gpu.link.bandwidth
    shares = {
        gpu.link.name: gpu.link.all_reduce_bandwidth / gpu.link.bandwidth for gpu in GPUS.values()
    }
    assert shares["PCIe 4.0 x16"] < 1 / 3
    assert shares["NVLink 4"] > 0.8


def test_an_all_reduce_of_two_gpus_by_hand():
    """Each byte is sent 2 (n - 1) / n = 1 time; 10 GB/s are reached on PCIe 4.0."""
    least, per_byte = GPUS["RTX 4090"].link.all_reduce(2)
    assert (least, per_byte) == (12e-6, 1 / 10e9)
    least, per_byte = GPUS["RTX 4090"].link.all_reduce(8)
    assert least == pytest.approx(42e-6)
    assert per_byte == pytest.approx(1.75 / 10e9)
