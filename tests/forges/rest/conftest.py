"""Forges on loopback that keep what they are told, and GitHub's own description of its API to check it against."""

from __future__ import annotations

import copy
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from jsonschema import Draft4Validator
from jsonschema.validators import extend
from referencing import Registry
from referencing.jsonschema import DRAFT4

from plait.config.git_keys import ForgeKind
from plait.forges.pull_requests import ForgeClient, HttpOptions

Json = Any  # a document that belongs to others

OPENAPI = Path(__file__).parents[1] / "openapi"
TOKEN = "s3cr3t-T0ken-0123456789"


def _or_null(check: Callable[..., Any]) -> Callable[..., Any]:
    """`nullable` is OpenAPI's own word."""

    def checked(validator: Any, wanted: Any, instance: Any, schema: Json) -> Iterator[Any]:
        if instance is not None or not schema.get("nullable"):
            yield from check(validator, wanted, instance, schema) or ()

    return checked


_Validator: type[Draft4Validator] = extend(  # type: ignore[no-untyped-call]
    Draft4Validator, {word: _or_null(Draft4Validator.VALIDATORS[word]) for word in ("type", "enum")}
)


class OpenApiChecker:
    """What GitHub publishes of its REST API. Beyond it, nothing is sent that it does not name."""

    def __init__(self, document: Json) -> None:
        self.document = document
        self._registry = Registry().with_resource("urn:github", DRAFT4.create_resource(document))
        self._paths: list[tuple[re.Pattern[str], str]] = [
            (re.compile(re.sub(r"\{[^/}]+\}", "([^/]+)", path)), path) for path in document["paths"]
        ]

    def check_request(self, method: str, path: str, query: Mapping[str, str], body: Json) -> None:
        at = ["paths", self._template(path), method.lower()]
        operation = self._at(*at)
        known = {each["name"]: each for each in map(self._whole, operation.get("parameters", ()))}
        for name, value in query.items():
            schema = known[name]["schema"]  # a KeyError: GitHub knows no such parameter
            self._check(schema, int(value) if schema["type"] == "integer" else value)
        if "requestBody" not in operation:
            assert body is None
            return
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        assert set(body) <= set(schema["properties"])
        self._check(schema, body)

    def check_answer(self, method: str, path: str, status: int, body: Json) -> None:
        answers = self._at("paths", self._template(path), method.lower(), "responses")
        if str(status) not in answers:  # as every operation may answer
            self._check({"$ref": "#/components/schemas/basic-error"}, body)
            return
        answer = self._whole(answers[str(status)])
        self._check(answer["content"]["application/json"]["schema"], body)

    def example(self, name: str) -> Json:
        return copy.deepcopy(self.document["components"]["examples"][name]["value"])

    def _template(self, path: str) -> str:
        return next(known for pattern, known in self._paths if pattern.fullmatch(path))

    def _at(self, *names: str) -> Json:
        found = self.document
        for name in names:
            found = found[name]
        return found

    def _whole(self, part: Json) -> Json:
        return self._at(*part["$ref"].removeprefix("#/").split("/")) if "$ref" in part else part

    def _check(self, schema: Json, instance: Json) -> None:
        rooted = json.loads(json.dumps(schema).replace('"$ref": "#/', '"$ref": "urn:github#/'))
        _Validator(rooted, registry=self._registry).validate(instance)


@cache
def _description(name: str) -> OpenApiChecker:
    path = OPENAPI / "node_modules" / "@octokit" / "openapi" / "generated" / f"{name}.json"
    if not path.is_file():
        pytest.fail("GitHub's description of its API is not here: npm ci --prefix tests/forges/openapi")
    return OpenApiChecker(json.loads(path.read_bytes()))


@dataclass
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Json


@dataclass
class ScriptedFailure:
    """What the next request of this method meets. `act`: it is done all the same; status 0: no answer comes."""

    method: str
    status: int
    body: Json = None
    headers: dict[str, str] = field(default_factory=dict)
    act: bool = False


@dataclass
class StoredPullRequest:
    """A pull request as a forge keeps it."""

    number: int
    title: str
    body: str
    branch: str
    base: str
    source: str
    draft: bool = False
    open: bool = True


class FakeForge:
    """One repository, acme/widgets (7), and a fork of it, ada/widgets (8), on a forge of some kind."""

    prefix = ""
    repositories: Mapping[str, int] = {"acme/widgets": 7, "ada/widgets": 8, "acme/fork": 9}

    def __init__(self) -> None:
        self.pulls: list[StoredPullRequest] = []
        self.requests: list[Request] = []
        self.troubles: list[ScriptedFailure] = []
        self.wrong: list[BaseException] = []
        self.hang = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def fail_next(self, method: str, status: int, body: Json = None, headers: Mapping[str, str] | None = None) -> None:
        self.troubles.append(ScriptedFailure(method, status, body, dict(headers or {})))

    def drop_answer(self, method: str) -> None:
        self.troubles.append(ScriptedFailure(method, 0, act=True))

    def find_requests(self, method: str) -> list[Request]:
        return [request for request in self.requests if request.method == method]

    def take(self, request: Request) -> tuple[int, Json, Mapping[str, str]]:
        self.requests.append(request)
        trouble = next((each for each in self.troubles if each.method == request.method), None)
        if trouble is None:
            return *self.answer(request), {}
        self.troubles.remove(trouble)
        if trouble.act:
            self.answer(request)
        return trouble.status, trouble.body, trouble.headers

    def answer(self, request: Request) -> tuple[int, Json]:
        raise NotImplementedError

    def check(self, request: Request, status: int, body: Json) -> None:
        """Whether both are as the forge's makers say."""

    def store_pull_request(self, **fields: Any) -> StoredPullRequest:
        self.pulls.append(StoredPullRequest(number=len(self.pulls) + 1, **fields))
        return self.pulls[-1]

    def close(self) -> None:
        self.hang.set()
        self.server.shutdown()
        self.server.server_close()
        if self.wrong:
            raise self.wrong[0]


def _handler(forge: FakeForge) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def serve(self) -> None:
            parts = urlsplit(self.path)
            data = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = json.loads(data) if data else None
            query = dict(parse_qsl(parts.query, keep_blank_values=True))
            request = Request(self.command, parts.path.removeprefix(forge.prefix), query, headers, body)
            try:
                status, result, more = forge.take(request)
                if status >= 200 and not more.get("location") and isinstance(result, dict | list):
                    forge.check(request, status, result)
            except BaseException as error:  # noqa: BLE001 - told when the forge is closed
                forge.wrong.append(error)
                status, result, more = 500, {"message": "the test is wrong"}, {}
            if status:
                self.tell(status, result, more)
            else:
                if result == "hang":
                    forge.hang.wait(30)
                self.close_connection = True

        def tell(self, status: int, content: Json, headers: Mapping[str, str]) -> None:
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_PUT = serve  # noqa: N815 - as the standard library calls them

        def log_message(self, *_: object) -> None:
            pass

    return Handler


class FakeGitHub(FakeForge):
    """As on a host of one's own; both sides of every exchange are checked against the published description."""

    prefix = "/api/v3"
    filters = True

    def check(self, request: Request, status: int, body: Json) -> None:
        description = _description("api.github.com")
        description.check_request(request.method, request.path, request.query, request.body)
        description.check_answer(request.method, request.path, status, body)

    def answer(self, request: Request) -> tuple[int, Json]:
        _, _, owner, name, *rest = request.path.split("/")
        path = f"{owner}/{name}"
        if path not in self.repositories:
            return 404, {"message": "Not Found", "documentation_url": "https://docs.github.com"}
        match request.method, rest:
            case "GET", []:
                return 200, self.repository(path)
            case "GET", ["pulls"]:
                return 200, [self.pull(each, "simple") for each in self.pulls if self.matches(each, request)]
            case "POST", ["pulls"]:
                return self.create(request.body)
            case "PATCH", ["pulls", number]:
                kept = self.pulls[int(number) - 1]
                kept.title, kept.body = request.body["title"], request.body["body"]
                return 200, self.pull(kept)
            case _:
                raise AssertionError(request)

    def matches(self, kept: StoredPullRequest, request: Request) -> bool:
        owner, _, branch = request.query["head"].partition(":")
        ours = kept.branch == branch and kept.source.startswith(f"{owner}/")
        return kept.open and (ours or not self.filters)

    def create(self, body: Json) -> tuple[int, Json]:
        owner, _, branch = body["head"].rpartition(":")
        source = body.get("head_repo") or (f"{owner}/widgets" if owner else "acme/widgets")
        if any(each.open and each.branch == branch and each.source == source for each in self.pulls):
            return 422, make_validation_error(f"A pull request already exists for {source.split('/')[0]}:{branch}.")
        fields = {"title": body["title"], "body": body["body"], "branch": branch, "base": body["base"]}
        return 201, self.pull(self.store_pull_request(**fields, source=source, draft=body.get("draft", False)))

    def repository(self, path: str) -> Json:
        whole = _description("api.github.com").example("full-repository-default-response")
        owner, name = path.split("/")
        whole |= {"id": self.repositories[path], "full_name": path, "name": name, "default_branch": "trunk"}
        whole["owner"]["login"] = owner
        # The example lacks a few things that the description asks for.
        whole = {name: value for name, value in whole.items() if name not in {"source", "parent"}}
        whole |= {"language": None, "template_repository": None}
        return whole

    def pull(self, kept: StoredPullRequest, shape: str = "") -> Json:
        description = _description("api.github.com")
        whole = description.example("pull-request-simple-items")[0] if shape else description.example("pull-request")
        whole |= {"number": kept.number, "title": kept.title, "body": kept.body, "draft": kept.draft}
        whole |= {"html_url": f"{self.root}/acme/widgets/pull/{kept.number}", "requested_teams": []}
        whole["head"]["ref"], whole["base"]["ref"] = kept.branch, kept.base
        whole["head"]["repo"] |= {"id": self.repositories[kept.source], "full_name": kept.source}
        whole["base"]["repo"] |= {"id": 7, "full_name": "acme/widgets"}
        return whole


class FakeGitea(FakeForge):
    prefix = "/api/v1"

    def answer(self, request: Request) -> tuple[int, Json]:
        _, _, owner, name, *rest = request.path.split("/")
        path = f"{owner}/{name}"
        match request.method, rest:
            case "GET", []:
                return 200, {"id": self.repositories[path], "full_name": path, "default_branch": "trunk"}
            case "GET", ["pulls"]:
                newest = [self.pull(each) for each in reversed(self.pulls) if each.open]
                page, limit = int(request.query["page"]), min(int(request.query["limit"]), 50)
                return 200, newest[(page - 1) * limit : page * limit]
            case "POST", ["pulls"]:
                owner, _, branch = request.body["head"].rpartition(":")
                source = f"{owner}/widgets" if owner else "acme/widgets"
                if any(each.open and (each.branch, each.source) == (branch, source) for each in self.pulls):
                    return 409, {"message": "pull request already exists for these targets"}
                body = {
                    "title": request.body["title"],
                    "body": request.body["body"],
                    "base": request.body["base"],
                }
                return 201, self.pull(self.store_pull_request(**body, branch=branch, source=source))
            case "PATCH", ["pulls", number]:
                kept = self.pulls[int(number) - 1]
                kept.title, kept.body = request.body["title"], request.body["body"]
                return 201, self.pull(kept)
            case _:
                raise AssertionError(request)

    def pull(self, kept: StoredPullRequest) -> Json:
        source = {"id": self.repositories[kept.source], "full_name": kept.source}
        return {
            "number": kept.number,
            "html_url": f"{self.root}/acme/widgets/pulls/{kept.number}",
            "title": kept.title,
            "body": kept.body,
            "head": {"ref": kept.branch, "repo": source},
            "base": {"ref": kept.base, "repo": {"id": 7, "full_name": "acme/widgets"}},
        }


class FakeGitLab(FakeForge):
    prefix = "/api/v4"
    repositories: Mapping[str, int] = {"acme/tools/widgets": 7, "ada/widgets": 8}

    def answer(self, request: Request) -> tuple[int, Json]:
        _, _, project, *rest = request.path.split("/")
        match request.method, rest:
            case "GET", []:
                path = unquote(project)
                return 200, {
                    "id": self.repositories[path], "path_with_namespace": path, "default_branch": "trunk"
                }  # fmt: skip
            case "GET", ["merge_requests"]:
                branch = request.query["source_branch"]
                return 200, [self.merge(each) for each in self.pulls if each.open and each.branch == branch]
            case "POST", ["merge_requests"]:
                body, source = (
                    request.body,
                    next(p for p, n in self.repositories.items() if str(n) == project),
                )
                assert body["target_project_id"] == 7
                if any(each.open and each.branch == body["source_branch"] for each in self.pulls):
                    return 409, {"message": ["Another open merge request already exists for this source branch: !1"]}
                fields = {
                    "title": body["title"],
                    "body": body["description"],
                    "branch": body["source_branch"],
                }
                return 201, self.merge(self.store_pull_request(**fields, base=body["target_branch"], source=source))
            case "PUT", ["merge_requests", number]:
                kept = self.pulls[int(number) - 1]
                kept.title, kept.body = request.body["title"], request.body["description"]
                return 200, self.merge(kept)
            case _:
                raise AssertionError(request)

    def merge(self, kept: StoredPullRequest) -> Json:
        return {
            "iid": kept.number,
            "web_url": f"{self.root}/acme/tools/widgets/-/merge_requests/{kept.number}",
            "title": kept.title,
            "description": kept.body,
            "source_branch": kept.branch,
            "target_branch": kept.base,
            "source_project_id": self.repositories[kept.source],
        }


def make_validation_error(message: str) -> Json:
    """As GitHub refuses what it understood."""
    error = {"resource": "PullRequest", "code": "custom", "message": message}
    return {"message": "Validation Failed", "errors": [error], "documentation_url": "https://docs.github.com"}


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    forge = FakeGitHub()
    yield forge
    forge.close()


@pytest.fixture
def gitea() -> Iterator[FakeGitea]:
    forge = FakeGitea()
    yield forge
    forge.close()


@pytest.fixture
def gitlab() -> Iterator[FakeGitLab]:
    forge = FakeGitLab()
    yield forge
    forge.close()


class ForgeOpener:
    """Opens forges from a clone whose remote is there; `pauses` are those it would have made."""

    def __init__(self, clone: Any) -> None:
        self.clone = clone
        self.clone.environment["PLAIT_FORGE_TOKEN"] = TOKEN
        self.pauses: list[float] = []

    def open(self, url: str, kind: str, *, push: str = "", timeout: float = 10.0) -> ForgeClient:
        git = self.clone.git
        git.run("remote", "add", "origin", url)
        if push:
            git.run("remote", "set-url", "--push", "origin", push)
        return ForgeClient(
            git,
            "origin",
            environment=self.clone.environment,
            kind=ForgeKind(kind),
            http=HttpOptions(timeout, self.pauses.append),
        )


@pytest.fixture
def forge_opener(clone: Any) -> ForgeOpener:
    return ForgeOpener(clone)
