"""JSON and MessagePack are decoded into dataclasses in any thread."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import plait

# Types that share a part are needed in several threads for the first time, again and again.
THREADS = """
import sys
from dataclasses import make_dataclass
from threading import Barrier, Thread
from plait.system.decoders import decode_json

sys.setswitchinterval(1e-6)
for _ in range(300):
    part = make_dataclass("Part", [(f"x{i}", int, 0) for i in range(30)])
    inner = make_dataclass("Inner", [("part", part), ("parts", tuple[part, ...], ())])
    outer = make_dataclass("Outer", [("inner", inner), ("part", part)])
    barrier = Barrier(4)

    def run(wanted, data):
        barrier.wait()
        decode_json(data, wanted)

    jobs = [(inner, b'{"part": {}}'), (outer, b'{"inner": {"part": {}}, "part": {}}')] * 2
    threads = [Thread(target=run, args=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print("done")
"""


def test_threads_may_need_a_type_at_the_same_time() -> None:
    ended = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "done\n"), ended.stderr[-500:]


def test_nothing_else_builds_decoders() -> None:
    builds = re.compile(r"msgspec\.(?:json|msgpack)\.(?:Decoder\b|decode\([^\n]*type=(?!dict\b))")
    sources = Path(plait.__file__).parent.rglob("*.py")
    found = [path.name for path in sources if builds.search(path.read_text())]
    assert found == ["decoders.py"]
