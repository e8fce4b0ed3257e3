"""An agent that talks. python chatty.py ID SECONDS PER_SECOND BURST: the first one says BURST lines at once instead."""

from __future__ import annotations

import os
import sys
import time


def burst(lines: int) -> None:
    line = b"a line of what an agent that has lost all measure prints, as fast as it can\n"
    for _ in range(lines // 1000):
        os.write(1, line * 1000)


def talk(seconds: float, per_second: int) -> None:
    begin = time.monotonic()
    for count in range(int(seconds * per_second)):
        os.write(1, b"%d: reading src/thing.py, then changing it, then reading it again\n" % count)
        time.sleep(max(0.0, begin + (count + 1) / per_second - time.monotonic()))


name, duration, rate, lines = sys.argv[1:]
if name == "1":
    burst(int(lines))
else:
    talk(float(duration), int(rate))
