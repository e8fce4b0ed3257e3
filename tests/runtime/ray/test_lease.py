"""An engine's lease on a node."""

from __future__ import annotations

from pathlib import Path

from plait.runtime.ray.lease import Lease
from plait.system.processes import read_boot_clock


def test_it_counts_from_when_an_answer_was_sent_that_the_engine_has_seen(tmp_path: Path) -> None:
    lease = Lease(tmp_path / "lease", 100.0)
    first = lease.number_answer()
    sent = read_boot_clock()
    lease.end = 0.0
    lease.renew(first + 1)
    assert lease.end == 0.0
    lease.renew(first)
    assert lease.end <= sent + 100.0
    assert not lease.has_run_out
    end = lease.end
    second = lease.number_answer()
    lease.renew(second)
    assert lease.end >= end
    end = lease.end
    lease.renew(first)  # a request that was delayed
    assert lease.end == end


def test_answers_from_before_it_ran_out_renew_nothing(tmp_path: Path) -> None:
    lease = Lease(tmp_path / "lease", 100.0)
    seen = lease.number_answer()
    lease.end = 0.0
    lease.forget_answers()
    lease.renew(seen)
    assert lease.is_long_over
    lease.begin()
    assert not lease.has_run_out


def test_the_next_service_has_it_for_as_long_as_it_runs(tmp_path: Path) -> None:
    lease = Lease(tmp_path / "lease", 100.0)
    lease.begin()
    again = Lease(tmp_path / "lease", 5.0)
    assert (again.end, again.seconds) == (lease.end, 100.0)
    (tmp_path / "lease").write_text(f"{lease.end + 10**6} 100.0")  # the machine was restarted: its clock begins anew
    assert Lease(tmp_path / "lease", 5.0).end <= read_boot_clock() + 100.0
    (tmp_path / "lease").write_text("")
    assert Lease(tmp_path / "lease", 5.0).seconds == 5.0
