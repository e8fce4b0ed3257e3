"""A forge on this machine: a repository over HTTP, and the part of Gitea's API that pull requests need."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

REPOSITORY = "acme/widgets"


@dataclass
class LocalForge:
    url: str
    pulls: list[dict[str, Any]] = field(default_factory=list)

    def answer(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, object]:
        own = {"id": 7, "full_name": REPOSITORY, "default_branch": "main"}
        if path == f"/repos/{REPOSITORY}":
            return 200, own
        if method == "GET":
            return 200, self.pulls
        if method == "PATCH":
            pull = self.pulls[int(path.rpartition("/")[2]) - 1]
            pull |= {"title": body["title"], "body": body["body"]}
            return 201, pull
        number = len(self.pulls) + 1
        self.pulls.append(
            {
                "number": number,
                "html_url": f"{self.url}/{REPOSITORY}/pulls/{number}",
                "title": body["title"],
                "body": body["body"],
                "head": {"ref": body["head"].rpartition(":")[2], "repo": own},
                "base": {"ref": body["base"], "repo": own},
            }
        )
        return 201, self.pulls[-1]


@contextmanager
def local_forge(folder: Path) -> Iterator[LocalForge]:
    """The repository lies in `folder`, bare."""
    bare = folder / f"{REPOSITORY}.git"
    subprocess.run(["git", "init", "--quiet", "--bare", "-b", "main", str(bare)], check=True)
    subprocess.run(["git", "-C", str(bare), "config", "http.receivepack", "true"], check=True)
    made = LocalForge("")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _make_handler(made, folder))
    server.daemon_threads = True
    made.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _make_handler(made: LocalForge, folder: Path) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def serve(self) -> None:
            parts = urlsplit(self.path)
            data = self.rfile.read(int(self.headers.get("content-length", 0)))
            if parts.path.startswith("/api/v1"):
                self.tell(
                    *made.answer(self.command, parts.path.removeprefix("/api/v1"), json.loads(data) if data else {})
                )
            else:
                self.git(parts.path, parts.query, data)

        def tell(self, status: int, told: object) -> None:
            data = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def git(self, path: str, query: str, data: bytes) -> None:
            """As git's own CGI program answers."""
            env = {
                **os.environ,
                "GIT_PROJECT_ROOT": str(folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("content-type", ""),
                "CONTENT_LENGTH": str(len(data)),
                "GIT_PROTOCOL": self.headers.get("git-protocol", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("content-encoding", ""),
                "REMOTE_USER": "ada",
                "REMOTE_ADDR": "127.0.0.1",
            }
            words = ["git", "http-backend"]
            said = subprocess.run(words, input=data, env=env, capture_output=True, check=True).stdout
            head, _, body = said.partition(b"\r\n\r\n")
            fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
            self.send_response(int(fields.pop("Status", "200").split()[0]))
            for name, value in fields.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PATCH = serve  # noqa: N815 - as the standard library calls them

        def log_message(self, *_: object) -> None:
            pass

    return Handler
