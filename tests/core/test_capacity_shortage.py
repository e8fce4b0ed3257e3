"""What the machine is short of, in words; what was short must be clearly better before it is forgotten."""

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


def test_a_machine_in_good_shape_is_short_of_nothing() -> None:
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
def test_it_says_what_the_machine_is_short_of(weather: MachineReadings, why: str) -> None:
    assert describe_shortage(weather, None, "/srv") == why


def test_a_reason_is_one_line_whatever_a_folder_is_called() -> None:
    assert describe_shortage(replace(FAIR, disk=0), None, "/srv/a\nb") == "only 0 MiB of disk left at /srv/a b"


def test_a_small_disk_is_short_later() -> None:
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
def test_what_was_short_must_be_clearly_better(
    short: MachineReadings, better: MachineReadings, good: MachineReadings
) -> None:
    why = describe_shortage(short, None)
    assert why is not None
    assert describe_shortage(better, None) is None
    assert describe_shortage(better, why) == why  # the same words: nothing new to tell
    assert describe_shortage(good, why) is None


def test_another_shortage_has_other_words() -> None:
    why = describe_shortage(replace(FAIR, load=99.0), None)
    assert describe_shortage(replace(FAIR, load=99.0, disk=0), why) == "only 0 MiB of disk left"
