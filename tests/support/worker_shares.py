"""The order in which workers run the tests: each begins with its share of the slow ones and ends with quick ones.

pytest-xdist gives every worker an equal number of tests that follow each other. A worker that has finished takes over tests
from the end of another's share: those are quick, so all workers end at about the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

# Milliseconds that a test takes on average, in folders whose tests start processes.
_SLOW_FOLDERS = {
    "ui": 1500,
    "crash": 600,
    "realagents": 600,
    "cli": 250,
    "observe": 250,
    "runtime": 200,
    "git": 100,
    "server": 100,
    "engine": 100,
}


def order_tests(folders: Sequence[str], workers: int) -> list[int]:
    """The places of the tests in the new order, given the folder of each."""
    slow = [place for place, folder in enumerate(folders) if folder in _SLOW_FOLDERS]
    quick = iter([place for place, folder in enumerate(folders) if folder not in _SLOW_FOLDERS])
    total = sum(_SLOW_FOLDERS[folders[place]] for place in slow)
    shares: list[list[int]] = [[] for _ in range(workers)]
    done = 0
    for place in slow:
        shares[min(done * workers // max(total, 1), workers - 1)].append(place)
        done += _SLOW_FOLDERS[folders[place]]
    for number, share in enumerate(shares):
        size = len(folders) * (number + 1) // workers - len(folders) * number // workers
        share.extend(islice(quick, max(0, size - len(share))))
    return [place for share in shares for place in share] + list(quick)
