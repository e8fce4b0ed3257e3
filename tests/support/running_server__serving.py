"""A server in a yard: `plait serve` as a process of its own, and clients that talk to it over HTTP."""

from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import Any

import httpx
from tests.support.temp_project import TIMEOUT_SECONDS, TempProject

_RECONNECT_SECONDS = 0.02  # seconds until a client that was cut off comes back


@dataclass
class ServerProcess:
    """`url` and `link` as the server told them, `token` as `plait token` prints it."""

    process: subprocess.Popen[str]
    url: str
    link: str
    pid: int
    token: str
    certificate: str | None = None

    def request(self, method: str, path: str, body: object = None, **headers: str) -> httpx.Response:
        told = {"Authorization": f"Bearer {self.token}", **headers}
        with self.client() as client:
            return client.request(method, path, json=body, headers=told)

    def client(self) -> httpx.Client:
        """One that has not logged in. A certificate of the test's own is trusted."""
        trusted = ssl.create_default_context(cafile=self.certificate) if self.certificate else True
        return httpx.Client(base_url=self.url, timeout=TIMEOUT_SECONDS, trust_env=False, verify=trusted)

    def get(self, path: str) -> Any:  # Any: what was answered
        return self.request("GET", path).raise_for_status().json()

    def post(self, path: str, body: object = None) -> Any:  # Any: what was answered
        return self.request("POST", path, body).raise_for_status().json()

    def kill(self) -> None:
        """As a machine does that runs out of memory."""
        os.kill(self.pid, signal.SIGKILL)
        self.process.wait(TIMEOUT_SECONDS)

    def end(self, number: int = signal.SIGTERM) -> int:
        """Ask it to end; its exit code."""
        os.kill(self.pid, number)
        return self.process.wait(TIMEOUT_SECONDS)


def start_server(
    yard: TempProject, *words: str, port: int = 0, token: str = "", env: Mapping[str, str] | None = None
) -> ServerProcess:
    """As soon as it answers."""
    front = yard.start("serve", "--json", "--port", str(port), *words, env=env)
    assert front.stdout is not None
    line = front.stdout.readline()
    if not line:
        raise AssertionError(f"the server did not start: {yard.finish(front).err}")
    told = json.loads(line)
    token = token or yard.plait("token").out.strip()
    return ServerProcess(front, told["url"], told["link"], told["pid"], token)


@dataclass
class ReceivedEvent:
    """An event as it came; `id` is empty for what does not stand in the journal."""

    id: str
    type: str
    data: dict[str, Any] = field(default_factory=dict)  # Any: what the event tells


class EventFollower:
    """A client of `/api/events` that comes back by itself, as browsers do: of what is cut off nothing counts."""

    def __init__(self, url: str, token: str, path: str = "/api/events") -> None:
        self.events: list[ReceivedEvent] = []
        self.connections = 0
        self._url, self._token = f"{url}{path}", token
        self._last = ""
        self._changed = Condition()
        self._closed = False
        self._thread = Thread(target=self._follow, daemon=True)
        self._thread.start()

    def wait_until(self, what: Callable[[], object]) -> None:
        with self._changed:
            if not self._changed.wait_for(lambda: bool(what()), TIMEOUT_SECONDS):
                types = [each.type for each in self.events]
                raise TimeoutError(f"waited {TIMEOUT_SECONDS:.0f} s; heard {types}")

    def wait_for_event(self, kind: str, task: str | None = None) -> None:
        self.wait_until(lambda: self.has_event(kind, task))

    def has_event(self, kind: str, task: str | None = None) -> bool:
        return any(
            each.type == kind and (task is None or each.data.get("taskId") == task) for each in self.events
        )

    def close(self) -> None:
        self._closed = True

    def _follow(self) -> None:
        while not self._closed:
            try:
                self._connected()
            except httpx.HTTPError:
                with self._changed:
                    self._changed.wait(_RECONNECT_SECONDS)

    def _connected(self) -> None:
        headers = {"Authorization": f"Bearer {self._token}"}
        if self._last:
            headers["Last-Event-ID"] = self._last
        with httpx.stream(
            "GET", self._url, headers=headers, timeout=TIMEOUT_SECONDS, trust_env=False
        ) as answer:
            answer.raise_for_status()
            with self._changed:
                self.connections += 1
                self._changed.notify_all()
            for block in parse_sse(answer.iter_lines()):
                self._take(block)
                if self._closed:
                    return

    def _take(self, block: dict[str, str]) -> None:
        """As a browser: an id counts from the end of its event on, and an event without data is none."""
        with self._changed:
            self._last = block.get("id", self._last)
            if "data" in block:
                self.events.append(
                    ReceivedEvent(block.get("id", ""), block.get("event", ""), json.loads(block["data"]))
                )
            self._changed.notify_all()


def parse_sse(lines: Iterator[str]) -> Iterator[dict[str, str]]:
    """Server-sent events as they stand in a stream: fields by name, comments under none."""
    block: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(":")
            block[name] = value.removeprefix(" ")
        else:
            yield block
            block = {}
