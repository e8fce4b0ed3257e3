"""A server with a running batch, for requests that must be refused."""

from __future__ import annotations

import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from plait.server.auth import SESSION_COOKIE, TokenPurpose, sign_token
from tests.support.running_server import ServerProcess
from tests.support.temp_project import TempProject
from tests.support.waiting import TIMEOUT_SECONDS


@dataclass
class SecurityHarness:
    """`batch` has a running task, and one that has printed terminal escapes."""

    project: TempProject
    server: ServerProcess
    client: httpx.Client
    batch: str = ""

    @property
    def bearer(self) -> str:
        return f"Bearer {self.server.token}"

    @property
    def port(self) -> int:
        return urlsplit(self.server.url).port or 0

    def request(self, method: str, path: str, body: object = None, **headers: str) -> httpx.Response:
        """Without a token, unless one is among the headers; `_` stands for `-` in their names."""
        told = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.request(method, path, json=body, headers=told)

    def request_as_owner(self, method: str, path: str, body: object = None, **headers: str) -> httpx.Response:
        return self.request(method, path, body, Authorization=self.bearer, **headers)

    def get(self, path: str) -> Any:  # Any: what was answered
        return self.request_as_owner("GET", path).raise_for_status().json()

    def cookie(self, until: float) -> str:
        return f"{SESSION_COOKIE}={sign_token(self.server.token, TokenPurpose.COOKIE, int(until))}"

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_SECONDS)

    def send_raw(self, data: bytes) -> bytes:
        """Send these bytes and read until the server closes the connection."""
        with self.connect() as client:
            client.sendall(data)
            heard = b""
            with suppress(ConnectionResetError):
                while data := client.recv(65536):
                    heard += data
        return heard

    def batches(self) -> list[str]:
        return [each["id"] for each in self.get("/api/batches")["batches"]]

    def ticks(self) -> int:
        return len(self.project.read("ticks"))

    def statuses(self) -> dict[str, str]:
        return {task["taskId"]: task["status"] for task in self.get(f"/api/batches/{self.batch}")["tasks"]}
