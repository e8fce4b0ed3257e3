"""Why a tool failed: by its exit status, and for tools that talk to a provider by how they die."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from plait.agents.error_patterns import MAX_DETAIL_CHARS, classify_exit
from plait.core.reports import Outcome
from plait.core.status import Category


def failed(tail: str, code: int = 1) -> Outcome:
    return classify_exit(code, tail, use_output=True)


def test_exit_status_0_is_success_whatever_was_printed() -> None:
    assert classify_exit(0, "API Error: 429", use_output=True) == Outcome(Category.OK, 0)


@pytest.mark.parametrize(
    ("code", "category", "detail"),
    [
        (1, Category.TASK, "exit status 1: the last line"),
        (3, Category.TASK, "exit status 3: the last line"),
        (124, Category.TASK, "exit status 124: the last line"),
        (126, Category.USAGE, "it is not executable: the last line"),
        (127, Category.USAGE, "it was not found: the last line"),
        (129, Category.KILLED, "ended by SIGHUP: the last line"),
        (130, Category.KILLED, "ended by SIGINT: the last line"),
        (137, Category.KILLED, "ended by SIGKILL: the last line"),
        (143, Category.KILLED, "ended by SIGTERM: the last line"),
        (134, Category.TASK, "ended by SIGABRT: the last line"),
        (139, Category.TASK, "ended by SIGSEGV: the last line"),
        (
            144,
            Category.TASK,
            "exit status 144: the last line",
        ),  # a tool's own, although there may be such a signal
        (145, Category.TASK, "exit status 145: the last line"),
        (173, Category.TASK, "exit status 173: the last line"),
        (244, Category.TASK, "exit status 244: the last line"),
        (255, Category.TASK, "exit status 255: the last line"),
    ],
)
@pytest.mark.parametrize("words", [True, False])
def test_the_exit_status_determines_the_category(code: int, category: Category, detail: str, words: bool) -> None:  # noqa: FBT001
    found = classify_exit(code, "something\nthe last line\n\n", use_output=words)
    assert (found.category, found.exit_code, found.detail) == (category, code, detail)


@pytest.mark.parametrize(
    ("tail", "said"),
    [
        ("", ""),
        (
            "Traceback (most recent call last):\n  File 'x'\nAssertionError: 1 != 2\n",
            "AssertionError: 1 != 2",
        ),
        ("\x1b[31mred\x1b[0m\n", "red"),
        ("working 10%\rworking 99%", "working 99%"),
        (
            "TypeError: no\n    at main (file:///a/b.js:12:3)\n    at node:internal/x:1:2\n}\n",
            "TypeError: no",
        ),
        ("it broke\n╰──────╯\n────\n", "it broke"),
        ('{"type":"error","message":"no model called m"}\n', "no model called m"),
    ],
)
def test_the_detail_is_the_last_meaningful_line(tail: str, said: str) -> None:
    assert failed(tail, 3).detail == f"exit status 3{': ' if said else ''}{said}"


@given(st.text(), st.integers(1, 255), st.booleans())
def test_a_detail_is_one_short_line_without_terminal_escapes(tail: str, code: int, words: bool) -> None:  # noqa: FBT001
    found = classify_exit(code, tail, use_output=words)
    assert found.detail.isprintable()
    assert 0 < len(found.detail) <= MAX_DETAIL_CHARS
    assert found.category is not Category.OK


DUMPED = """\
Error when talking to Gemini API Full report available at: /tmp/x.json RetryableQuotaError: slow down
Suggested retry after 1s.
    at throwError (file:///x.js:1:2) {
  cause: {
    code: 429,
  },
}"""

# How real tools die; in our own words where theirs do not matter.
DEATHS = [
    (
        Category.RATE_LIMIT,
        "litellm.RateLimitError: RateLimitError: OpenAIException - Rate limit\nreached (some model)",
    ),
    (Category.RATE_LIMIT, "The API provider has rate limited you. Try again later or check your quotas."),
    (Category.RATE_LIMIT, "ERROR: exceeded retry limit, last status: 429 Too Many Requests"),
    (Category.RATE_LIMIT, "API Error: Request rejected (429) · Rate limit reached"),
    (Category.RATE_LIMIT, "[API Error: 429 slow down]"),
    (Category.RATE_LIMIT, "openai.RateLimitError: Error code: 429 - {'error': {'message': 'slow down'}}"),
    (Category.RATE_LIMIT, "You've hit your usage limit. Upgrade, or try again in 3 hours."),
    (Category.RATE_LIMIT, "5-hour limit reached ∙ resets 3pm"),
    (Category.RATE_LIMIT, "Claude AI usage limit reached|1735689600"),
    (Category.RATE_LIMIT, DUMPED),
    (
        Category.RATE_LIMIT,
        '{"type":"error","error":{"name":"APIError","data":{"message":"slow down","statusCode":429}}}',
    ),
    (
        Category.RATE_LIMIT,
        '{"type":"result","is_error":true,"api_error_status":429,"result":"API Error: rejected"}',
    ),
    (Category.RATE_LIMIT, "Error: You exceeded your current quota. Please retry in 34.07s."),
    (Category.QUOTA, "Error: You exceeded your current quota, please check your plan and billing details."),
    (Category.QUOTA, "Credit balance is too low"),
    (Category.QUOTA, '{"type":"error","message":"no","code":"insufficient_quota"}'),
    (Category.QUOTA, '{"type":"error","message":"no (retry-after: 20)","code":"insufficient_quota"}'),
    (Category.QUOTA, "Error: 429 insufficient_quota: you exceeded your current quota. Please retry in 34s."),
    (Category.QUOTA, "Error: Payment required. Try again in 5 minutes."),
    (Category.AUTH, "[API Error: 401 invalid x-api-key]"),
    (Category.AUTH, '{"type":"result","is_error":true,"result":"Not logged in · Please run /login"}'),
    (Category.AUTH, "Failed to authenticate. API Error: 403 Forbidden"),
    (
        Category.AUTH,
        "litellm.AuthenticationError: AuthenticationError: OpenAIException - Incorrect \nAPI key provided",
    ),
    (
        Category.AUTH,
        "ERROR: unexpected status 401 Unauthorized: Incorrect API key provided: x., url: http://y",
    ),
    (Category.OVERLOADED, "API Error: 529 {'type':'error','error':{'type':'overloaded_error'}}"),
    (
        Category.OVERLOADED,
        '{"type":"turn.failed","error":{"message":"We\u2019re currently experiencing high demand."}}',
    ),
    (Category.OVERLOADED, "The API provider's servers are down or overloaded."),
    (Category.OVERLOADED, "Error: Request failed with status code 503"),
    (Category.NETWORK, "API Error: Unable to connect to API (ConnectionRefused)"),
    (Category.NETWORK, "Error: getaddrinfo ENOTFOUND api.example.com"),
    (Category.NETWORK, "curl: (6) Could not resolve host: api.example.com"),
    (
        Category.NETWORK,
        '{"type":"error","message":"stream disconnected before completion: error sending request"}',
    ),
    (Category.CONTEXT, "Prompt is too long"),
    (Category.CONTEXT, "API Error: 400 This model's maximum context length is 128000 tokens."),
    (Category.CONTEXT, "litellm.ContextWindowExceededError: litellm.BadRequestError: too much"),
    (Category.USAGE, "error: unknown option '--nope'\n(Did you mean --name?)"),
    (Category.USAGE, "tool: error: unrecognized arguments: --nope"),
]


@pytest.mark.parametrize(("category", "tail"), DEATHS, ids=range(len(DEATHS)))
@pytest.mark.parametrize("before", ["", "I have changed src/app.py.\n\nAll tests pass.\n"], ids=["at once", "late"])
@pytest.mark.parametrize(
    "after",
    ["", "\n\n", "\n    at main (file:///x.js:3:4)\n}\n", "\nbye\n"],
    ids=["", "lines", "stack", "bye"],
)
def test_the_last_output_determines_the_category(category: Category, tail: str, before: str, after: str) -> None:
    assert failed(f"{before}{tail}{after}").category is category


# A task about rate limits, keys and servers that are down; its tests fail, or its agent gives up.
TALK = [
    "FAILED tests/test_limits.py::test_429 - AssertionError: assert 429 == 200",
    "E   app.errors.RateLimitError: rate limit exceeded",
    "E       openai.RateLimitError: Error code: 429 - Too Many Requests",
    "AssertionError: expected 'Too Many Requests' to equal 'OK'",
    "1 failed: the rate limiter answers 429 Too Many Requests",
    "I could not make the limiter return 429 Too Many Requests; try again in 20s.",
    "Error handling for 'rate limit exceeded' is in src/errors.py",
    "app.errors.RateLimitError: more than 5 calls",
    "Summary: invalid API key and expired tokens are refused now; 1 test fails",
    "- [ ] overloaded servers answer 503",
    "  Error: 429 Too Many Requests  (in a log that a test printed)",
    "│ Error: 429 Too Many Requests │",
    "> API Error: 429",
    '{"type":"assistant","message":{"content":[{"type":"text","text":"API Error: 429 Too Many Requests"}]}}',
    '{"type":"result","is_error":false,"result":"the API answers 429 Too Many Requests, rate_limit_error"}',
    '{"type":"error"',
    "429",
    "context_length_exceeded is handled in client.py",
    "Usage: tool [OPTIONS] FILE",
    "Error: expected status 429 but got 200",
    "Error: the limiter's tests failed: rate limit exceeded, retry after 3 seconds",
    "HTTPError: assertion on 'Too Many Requests' does not hold",
    "The daily limit reached page is still empty",
    '{"type":"tool_result","status":"error","error":{"message":"curl: 429 Too Many Requests"}}',
    '{"type":["error"],"message":"429 Too Many Requests"}',
    '{"type":{},"status":[],"is_error":{},"message":"429 Too Many Requests"}',
]


@pytest.mark.parametrize("tail", TALK)
def test_text_about_rate_limits_is_no_rate_limit(tail: str) -> None:
    assert failed(f"running the tests\n{tail}\n").category is Category.TASK


def test_an_early_error_does_not_explain_the_exit() -> None:
    """Tools retry by themselves: a limit that was met and passed is over."""
    tail = "API Error: 429 Too Many Requests\n" + "".join(f"going on with {number}\n" for number in range(5))
    assert failed(tail).category is Category.TASK


def test_the_last_error_counts() -> None:
    assert failed("API Error: 429 Too Many Requests\nAPI Error: 401 invalid x-api-key\n").category is Category.AUTH


def test_the_error_line_is_the_detail() -> None:
    found = failed("Error: 429 Too Many Requests\nRetry-After: 30\nbye\n")
    assert (found.detail, found.retry_after, found.retry_at) == (
        "exit status 1: Error: 429 Too Many Requests",
        30.0,
        None,
    )


def test_only_rate_limits_have_a_wait() -> None:
    assert failed("Claude usage limit reached|1735689600").retry_at == 1735689600.0
    assert failed("[API Error: 429 slow down] Please try again in 20s").retry_after == 20.0
    assert failed("Error: connect ECONNREFUSED; try again in 20s").retry_after is None


def test_a_killed_process_has_no_other_reason() -> None:
    assert failed("API Error: 429 Too Many Requests", 137).category is Category.KILLED
