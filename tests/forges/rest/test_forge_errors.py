from __future__ import annotations

import socket
from typing import TYPE_CHECKING, NamedTuple

import pytest

from plait.forges.forge import ForgeError, PullRequestSpec

if TYPE_CHECKING:
    from plait.forges.pull_requests import ForgeClient
    from tests.forges.rest.conftest import FakeGitea, FakeGitHub, ForgeOpener

TOKEN = "s3cr3t-T0ken-0123456789"
BRANCH = "plait/batch-7f3a"
WANTED = PullRequestSpec(BRANCH, "main", "It's three tasks", "| a | table |", draft=True)


@pytest.fixture
def forge(github: FakeGitHub, forge_opener: ForgeOpener) -> ForgeClient:
    return forge_opener.open(f"{github.root}/acme/widgets.git", "github")


def refusal(forge: ForgeClient) -> ForgeError:
    with pytest.raises(ForgeError) as caught:
        forge.publish_pull_request(WANTED)
    assert TOKEN not in f"{caught.value}{caught.value!r}{caught.value.__context__}"
    return caught.value


def failed(message: str) -> dict[str, str]:
    return {"message": message, "documentation_url": "https://docs.github.com"}


class Case(NamedTuple):
    status: int
    message: str
    expected: str


@pytest.mark.parametrize(
    "case",
    [
        Case(401, "Bad credentials", "rejected the token from PLAIT_FORGE_TOKEN: Bad credentials"),
        Case(403, "Not for you", "doesn't allow this with the token from PLAIT_FORGE_TOKEN: Not for you"),
        Case(404, "Not Found", "has no acme/widgets, or the token from PLAIT_FORGE_TOKEN can't see it"),
        Case(410, "Gone", "refused (status 410): Gone"),
    ],
)
def test_a_refusal_has_a_hint_with_the_manual_steps(github: FakeGitHub, forge: ForgeClient, case: Case) -> None:
    github.fail_next("GET", case.status, failed(case.message))
    error = refusal(forge)
    assert case.expected in error.message
    host = github.root.removeprefix("http://")
    assert error.hint == (
        f"By hand: {github.root}/acme/widgets/compare/main...plait/batch-7f3a?expand=1\n"
        f"  or: gh pr create --repo {host}/acme/widgets --base main --head {BRANCH} --draft"
        " --title 'It'\"'\"'s three tasks'"
    )
    assert len(github.requests) == 1


def test_a_branch_without_new_commits_is_named_in_the_error(github: FakeGitHub, forge: ForgeClient) -> None:
    error = {"resource": "PullRequest", "code": "custom", "message": f"No commits between main and {BRANCH}"}
    github.fail_next("POST", 422, {**failed("Validation Failed"), "errors": [error]})
    assert f"No commits between main and {BRANCH}" in refusal(forge).message


def test_an_invalid_field_is_named(github: FakeGitHub, forge: ForgeClient) -> None:
    error = {"resource": "PullRequest", "field": "base", "code": "invalid"}
    github.fail_next("POST", 422, {**failed("Validation Failed"), "errors": [error]})
    assert "Validation Failed; base is invalid" in refusal(forge).message


def test_a_server_error_is_retried(github: FakeGitHub, forge: ForgeClient, forge_opener: ForgeOpener) -> None:
    github.fail_next("GET", 502, b"<html>")
    github.fail_next("POST", 500, failed("oops"))
    assert forge.publish_pull_request(WANTED).created
    assert forge_opener.pauses == [1.0, 4.0]
    assert len(github.pulls) == 1


def test_repeated_server_errors_are_reported(github: FakeGitHub, forge: ForgeClient) -> None:
    for _ in range(3):
        github.fail_next("GET", 503, failed("Unavailable"))
    assert "failed (status 503): Unavailable" in refusal(forge).message


def test_a_short_rate_limit_is_waited_for(github: FakeGitHub, forge: ForgeClient, forge_opener: ForgeOpener) -> None:
    github.fail_next("POST", 403, failed("You have exceeded a secondary rate limit"), {"Retry-After": "7"})
    assert forge.publish_pull_request(WANTED).created
    assert forge_opener.pauses == [7.0]


@pytest.mark.parametrize(
    "headers",
    [{"Retry-After": "120"}, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "99999999999"}, {}],
)
def test_a_long_rate_limit_is_reported(
    github: FakeGitHub, forge: ForgeClient, forge_opener: ForgeOpener, headers: dict[str, str]
) -> None:
    github.fail_next("POST", 403, failed("You have exceeded a secondary rate limit"), headers)
    assert "asks to wait" in refusal(forge).message
    assert forge_opener.pauses == []


def test_a_timeout_is_reported_as_no_answer(github: FakeGitHub, forge_opener: ForgeOpener) -> None:
    forge = forge_opener.open(f"{github.root}/acme/widgets.git", "github", timeout=0.1)
    for _ in range(3):
        github.fail_next("GET", 0, "hang")
    error = refusal(forge)
    assert error.message == "127.0.0.1 did not answer in time"
    assert "/compare/main...plait/batch-7f3a" in error.hint


def test_a_refused_connection_is_reported_as_unreachable(forge_opener: ForgeOpener) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    error = refusal(forge_opener.open(f"http://127.0.0.1:{port}/acme/widgets.git", "github"))
    assert "can't be reached" in error.message
    assert forge_opener.pauses == [1.0, 4.0]


@pytest.mark.parametrize("text", [b"<html>Please log in to the network</html>", b"[]", b'{"id": "x"}'])
def test_an_answer_that_is_not_from_a_forge_is_reported(github: FakeGitHub, forge: ForgeClient, text: bytes) -> None:
    github.fail_next("GET", 200, text)
    assert "sent an unexpected answer" in refusal(forge).message


def test_an_endless_answer_is_cut_off(github: FakeGitHub, forge: ForgeClient) -> None:
    github.fail_next("GET", 200, b" " * (17 << 20))
    assert "sent an answer that is too large" in refusal(forge).message


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_token_is_never_sent_to_another_host(
    github: FakeGitHub, gitea: FakeGitea, forge: ForgeClient, status: int, method: str
) -> None:
    """Another port is another host as well."""
    github.fail_next(method, status, failed("Moved"), {"location": f"{gitea.root}/api/v3/repos/acme/widgets"})
    error = refusal(forge)
    assert "redirects to 127.0.0.1, which must not get the token" in error.message
    assert gitea.requests == []


def test_a_redirect_loop_ends(github: FakeGitHub, forge: ForgeClient) -> None:
    for _ in range(10):
        github.fail_next("GET", 302, failed("Moved"), {"location": "/api/v3/repos/acme/widgets"})
    assert "redirects too often" in refusal(forge).message


def test_a_token_in_an_error_answer_is_masked(github: FakeGitHub, forge: ForgeClient) -> None:
    github.fail_next("GET", 403, failed(f"the token {TOKEN}\x1b[31m may not\n do this"))
    assert "the token *** [31m may not do this" in refusal(forge).message


def test_an_invalid_link_is_not_shown(github: FakeGitHub, forge: ForgeClient) -> None:
    kept = github.store_pull_request(title="t", body="", branch=BRANCH, base="main", source="acme/widgets")
    github.fail_next("PATCH", 200, {**github.pull(kept), "html_url": "javascript:alert(1)"})
    assert forge.publish_pull_request(WANTED).url == f"{github.root}/acme/widgets"


def test_without_a_token_no_request_is_sent(github: FakeGitHub, forge: ForgeClient, forge_opener: ForgeOpener) -> None:
    del forge_opener.clone.environment["PLAIT_FORGE_TOKEN"]
    error = refusal(forge)
    assert error.message == "no token for 127.0.0.1"
    assert "set GH_ENTERPRISE_TOKEN" in error.hint
    assert "/compare/main...plait/batch-7f3a" in error.hint
    assert github.requests == []


def test_an_invalid_token_is_not_sent(github: FakeGitHub, forge: ForgeClient, forge_opener: ForgeOpener) -> None:
    forge_opener.clone.environment["PLAIT_FORGE_TOKEN"] = f"{TOKEN}\nX-Evil: yes"
    assert "PLAIT_FORGE_TOKEN doesn't hold a token" in refusal(forge).message
    assert github.requests == []


def test_loopback_does_not_go_through_a_proxy(
    github: FakeGitHub, gitea: FakeGitea, forge: ForgeClient, forge_opener: ForgeOpener
) -> None:
    forge_opener.clone.environment.update(HTTP_PROXY=gitea.root, all_proxy=gitea.root)
    assert forge.publish_pull_request(WANTED).created
    assert github.pulls
    assert gitea.requests == []
