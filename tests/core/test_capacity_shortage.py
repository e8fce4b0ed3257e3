"""Descriptions of a shortage; it ends only when readings are clearly better."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plait.core.capacity import GIB, MIB, Demand, MachineReadings, describe_shortage, memory_capacity
from plait.core.settings import MachineLimits

FAIR = MachineReadings(
    memory=16 * GIB,
    memory_total=24 * GIB,
    disk=90 * GIB,
    disk_total=500 * GIB,
    load=1.0,
    cores=8,
    memory_stall=0.0,
)


def test_an_idle_machine_has_no_shortage() -> None:
    assert describe_shortage(FAIR, None) is None
    assert describe_shortage(replace(FAIR, memory_stall=None), None) is None


@pytest.mark.parametrize(
    ("weather", "why"),
    [
        (replace(FAIR, disk=312 * MIB), "only 312 MiB of disk left at /srv"),
        (replace(FAIR, memory_stall=0.43), "memory pressure: work stalls 43% of the time"),
        (replace(FAIR, load=90.0), "load 90.0 on 8 cores"),
        (replace(FAIR, load=9.5, cores=1), "load 9.5 on 1 core"),
    ],
)
def test_a_shortage_is_described(weather: MachineReadings, why: str) -> None:
    assert describe_shortage(weather, None, "/srv") == why


@pytest.mark.parametrize(
    ("reading", "limits"),
    [
        (replace(FAIR, load=90.0), MachineLimits(max_load=12)),
        (replace(FAIR, load=900.0), MachineLimits(max_load=0)),
        (replace(FAIR, memory_stall=0.43), MachineLimits(max_memory_stall=0.5)),
        (replace(FAIR, memory_stall=1.0), MachineLimits(max_memory_stall=1)),
    ],
)
def test_the_limits_can_be_set_or_turned_off(reading: MachineReadings, limits: MachineLimits) -> None:
    assert describe_shortage(reading, None) is not None
    assert describe_shortage(reading, None, limits=limits) is None


def test_the_memory_to_keep_free_can_be_set_or_turned_off() -> None:
    demand = Demand(slots=0, growth=0, agent="claude", footprint=GIB)
    assert memory_capacity(FAIR, demand).slots == 14  # 16 GiB without a twentieth of 24 GiB
    assert memory_capacity(FAIR, demand, MachineLimits(free_memory=6 * GIB)).slots == 10
    assert memory_capacity(replace(FAIR, memory=1), demand, MachineLimits(free_memory=0)).slots is None


def test_a_shortage_is_one_line_whatever_the_folder_is_called() -> None:
    assert describe_shortage(replace(FAIR, disk=0), None, "/srv/a\nb") == "only 0 MiB of disk left at /srv/a b"


def test_a_small_disk_has_a_smaller_minimum() -> None:
    small = replace(FAIR, disk=200 * MIB, disk_total=8 * GIB)
    assert describe_shortage(small, None) is None
    assert describe_shortage(replace(small, disk=150 * MIB), None) == "only 150 MiB of disk left"


@pytest.mark.parametrize(
    ("short", "better", "good"),
    [
        (replace(FAIR, disk=900 * MIB), replace(FAIR, disk=1100 * MIB), replace(FAIR, disk=1600 * MIB)),
        (replace(FAIR, memory_stall=0.5), replace(FAIR, memory_stall=0.3), replace(FAIR, memory_stall=0.2)),
        (replace(FAIR, load=70.0), replace(FAIR, load=50.0), replace(FAIR, load=40.0)),
    ],
)
def test_a_shortage_ends_only_when_readings_are_clearly_better(
    short: MachineReadings, better: MachineReadings, good: MachineReadings
) -> None:
    why = describe_shortage(short, None)
    assert why is not None
    assert describe_shortage(better, None) is None
    assert describe_shortage(better, why) == why  # the same words: nothing new to tell
    assert describe_shortage(good, why) is None


def test_a_different_shortage_is_described_again() -> None:
    why = describe_shortage(replace(FAIR, load=99.0), None)
    assert describe_shortage(replace(FAIR, load=99.0, disk=0), why) == "only 0 MiB of disk left"
