"""Descriptions of a shortage; it ends only when readings are clearly better."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plait.core.capacity import GIB, MIB, MachineReadings, describe_shortage

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
