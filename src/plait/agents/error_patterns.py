"""The meaning of an exit: a category for the retry policy, and one line for people.

Any tool may print phrases about rate limits: the task may be about them. So a phrase only counts in one of the last
statements, and only if that starts like an error. A rate limit taken for a failure costs a retry; a failure taken for a
rate limit is retried forever. In doubt it is a failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from json import loads
from signal import Signals

from plait.agents.plain_text import to_plain_text, truncate
from plait.agents.retry_after import NO_RETRY_AFTER, RetryAfter, parse_retry_after
from plait.core.fast_dataclass import dataclass
from plait.core.lazy_pattern import pattern
from plait.core.reports import Outcome
from plait.core.status import Category

MAX_DETAIL_CHARS = 200
_NOT_RUN_REASONS = {126: "it is not executable", 127: "it was not found"}
# The shell of the supervisor (its process name is in runtime/supervisor.py) reports a command that can't run.
_SUPERVISOR_PREFIX = re.compile(r"^plait-warden: (?:line )?\d*:? ?(?:exec: )?")
_SIGNAL_EXIT_BASE = 128

# Sent by others; a crash, such as a segmentation fault, is the process's own failure.
_EXTERNAL_SIGNALS = frozenset(
    {"SIGHUP", "SIGINT", "SIGQUIT", "SIGKILL", "SIGTERM", "SIGXCPU", "SIGUSR1", "SIGUSR2", "SIGALRM"}
)

_CRASH_SIGNALS = frozenset(
    {"SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGSEGV", "SIGPIPE", "SIGXFSZ", "SIGSYS"}
)


def classify_exit(code: int, tail: str, *, printed_at: float | None = None, use_output: bool = False) -> Outcome:
    """Return the outcome of an exit. `code` is the shell's. With `use_output`, the last lines may explain a failure,
    but never decide that it is one.
    """
    if code == 0:
        return Outcome(Category.OK, code)

    last = find_last_line(tail)
    if code in _NOT_RUN_REASONS:
        last = _SUPERVISOR_PREFIX.sub("", last)
        return _make_outcome(Category.USAGE, code, _NOT_RUN_REASONS[code], last)
    name = _signal_name(code)
    if name in _EXTERNAL_SIGNALS:
        return _make_outcome(Category.KILLED, code, f"ended by {name}", last)
    status = f"ended by {name}" if name in _CRASH_SIGNALS else f"exit status {code}"
    error = find_error(tail, printed_at) if use_output else None
    if error is None:
        return _make_outcome(Category.TASK, code, status, last)
    outcome = _make_outcome(error.category, code, status, error.message)
    return replace(outcome, retry_after=error.wait.after, retry_at=error.wait.at)


def was_killed(code: int) -> bool:
    """Whether the process was ended by a signal or never ran, so that nothing it printed matters."""
    return code in _NOT_RUN_REASONS or _signal_name(code) in _EXTERNAL_SIGNALS


def _make_outcome(category: Category, code: int, what: str, text: str) -> Outcome:
    return Outcome(category, code, truncate(f"{what}: {text}" if text else what, MAX_DETAIL_CHARS))


def _signal_name(code: int) -> str | None:
    try:
        return Signals(code - _SIGNAL_EXIT_BASE).name
    except ValueError:
        return None


MAX_STATEMENTS = 5  # at the end of the output
_MAX_STATEMENT_CHARS = 2000
_MAX_JSON_DEPTH = 4

# How an error starts: with the word, an exception's name, or a phrase of some tool.
_ERROR_START = pattern(
    r"""[^\w\s>#|-]{0,3}\s?(?:
        (?:[\w./-]{1,40}:[ ])?(?:api[ ]|stream[ ])?(?:fatal|error)(?:[:(\]]|[ ]\d|[ ]when[ ]talking[ ]to)
      | (?:[a-z_]\w*[./:]){0,4}(?!assert)_?[a-z]\w*(?:error|exception)\b[:( ]
      | curl:[ ]\(\d
      | (?:exceeded[ ]retry[ ]limit|unexpected[ ]status|stream[ ]disconnected|failed[ ]to[ ]authenticate)\b
      | (?:the[ ]api[ ]provider|cannot[ ]connect[ ]to[ ]api|unable[ ]to[ ]connect)\b
      | (?:invalid|incorrect|missing)[ ]api[ ]key\b | not[ ]logged[ ]in\b | please[ ]run[ ]/login\b
      | credit[ ]balance[ ]is[ ]too[ ]low | prompt[ ]is[ ]too[ ]long | please[ ]set[ ]an[ ]auth[ ]method
      | you['\u2019]ve[ ](?:hit|reached)[ ]your[ ] | we['\u2019]re[ ]currently[ ]experiencing
      | (?:[\w-]+[ ]){0,3}(?:usage[ ])?limit[ ]reached[ ]?(?![ \w])
      | model[ ]\S+[ ]has[ ]hit[ ]a[ ]token[ ]limit
    )""",
    re.IGNORECASE | re.VERBOSE,
)

# How tests report what they test.
_TEST_WORDING = pattern(
    r"\b(?:expected|asserts?|asserted|assertion|but (?:got|was|received)|tests? fail(?:ed|s|ure))\b",
    re.IGNORECASE,
)

# The first that matches counts.
_CATEGORY_PATTERNS: Mapping[Category, re.Pattern[str]] = {
    category: pattern(phrases, re.IGNORECASE | re.VERBOSE)
    for category, phrases in {
        Category.CONTEXT: r"""
            context_length_exceeded | context[_ ]?window[_ ]?exceeded | contextoverflow | prompt[ _]is[ _]too[ _]long
          | prompt_too_long | maximum[ ]context[ ]length | exceeds?[ ]the[ ](?:model's[ ])?(?:maximum|context)
          | exhausted[ ]context[ ]window | hit[ ]a[ ]token[ ]limit
        """,
        Category.QUOTA: r"""
            insufficient_quota | terminalquotaerror | exceeded[ ]your[ ]current[ ]quota | credit[ ]balance[ ]is[ ]too[ ]low
          | billing_hard_limit | monthly[ ]spend[ ]limit | out[ ]of[ ](?:usage[ ])?credits | insufficient[ ](?:credits?|funds|balance) | payment[ ]required
        """,
        Category.AUTH: r"""
            (?:invalid|incorrect|missing|expired)[ ](?:x-)?api[ -]key | invalid[ ]x-api-key | invalid_api_key
          | api[ ]key[ ](?:not[ ]valid|is[ ]invalid|expired|not[ ]found) | authentication_(?:error|failed)
          | failed[ ]to[ ]authenticate | not[ ]logged[ ]in | please[ ]run[ ]/login | unauthenticated
          | please[ ]set[ ]an[ ]auth[ ]method | token[ ]has[ ]expired
          | (?:litellm|openai|anthropic)\.authenticationerror
        """,
        Category.RATE_LIMIT: r"""
            too[ ]many[ ]requests | rate_limit_(?:error|exceeded) | resource_exhausted | resource[ ]has[ ]been[ ]exhausted
          | (?:litellm|openai|anthropic)\.ratelimiterror | api[ ]provider[ ]has[ ]rate[ ]limited
          | you['\u2019]ve[ ](?:hit|reached)[ ]your[ ](?:\w+[ ]){0,3}limit
          | \b(?:usage|5-hour|weekly|session|daily|opus)[ ]limit[ ]reached
          | api[ ]error\b.{0,40}\brate[ ]limit | retryablequotaerror
        """,
        Category.NETWORK: r"""
            \be(?:connrefused|connreset|notfound|timedout|ai_again|netunreach|hostunreach|pipe)\b | fetch[ ]failed
          | connection[ ](?:error|refused|reset|timed[ ]out|closed) | connectionrefused | unable[ ]to[ ]connect
          | cannot[ ]connect[ ]to | could[ ]not[ ]resolve[ ]host | failed[ ]to[ ](?:connect|resolve)
          | name[ ]resolution | name[ ]or[ ]service[ ]not[ ]known | network[ ]is[ ]unreachable
          | stream[ ]disconnected | error[ ]sending[ ]request | apiconnectionerror | waiting[ ]for[ ]network
        """,
        Category.OVERLOADED: r"""
            overloaded | high[ ]demand | service[ ]unavailable | internal[ ]server[ ]error | internalservererror
          | bad[ ]gateway | gateway[ ]time-?out | temporarily[ ]unavailable
        """,
        Category.USAGE: r"""
            (?:unknown|unrecognized|unexpected|invalid)[ ](?:option|argument|flag|command)s?\b
          | no[ ]such[ ](?:option|command) | missing[ ]required[ ](?:argument|option)
        """,
    }.items()
}

# No wait helps against these, whatever time to wait comes with them; other quotas may be limits per minute or day.
_UNPAID = pattern(
    r"""insufficient_quota | billing_hard_limit | credit[ ]balance[ ]is[ ]too[ ]low
      | insufficient[ ](?:credits?|funds|balance) | payment[ ]required""",
    re.IGNORECASE | re.VERBOSE,
)

# Only together with a time to wait, this comes from a provider.
_RATE_LIMIT_WORDING = pattern(r"rate limit (?:was |has been )?(?:reached|exceeded|hit)", re.IGNORECASE)

# An HTTP status that is called one.
_HTTP_STATUS = pattern(
    r"(?:status(?:code|_code|[ ]code)?|http(?:/[\d.]+)?|(?:api_)?error(?:_status|[ ]code)?|code|rejected)"
    r"[\"']?[\s:=(\[]{1,3}[\"']?([45]\d\d)\b",
    re.IGNORECASE,
)

_PAYMENT_REQUIRED = 402
# For a status that a tool reports as such, not as a number in some text.
_CATEGORY_BY_STATUS: Mapping[int, Category] = {
    401: Category.AUTH,
    _PAYMENT_REQUIRED: Category.QUOTA,
    403: Category.AUTH,
    413: Category.CONTEXT,
    429: Category.RATE_LIMIT,
}

# The fields of JSON that describe an error.
_ERROR_FIELDS = ("message", "result", "error", "data", "name", "code", "statusCode", "api_error_status")
_NOISE = pattern(r"\s*(?:at .*[(:/].*|[^\w\s]*|[\u2500-\u257f].*)")


@dataclass(frozen=True, slots=True)
class ErrorMatch:
    category: Category
    message: str
    wait: RetryAfter


def find_error(tail: str, printed_at: float | None = None) -> ErrorMatch | None:
    """Return the last error in the output that has a category of its own, or None."""
    statements = _split_statements(tail)[-MAX_STATEMENTS:]
    for index in range(len(statements) - 1, -1, -1):
        match = _match_statement(statements[index], " ".join(statements[index + 1 :]), printed_at)
        if match is not None:
            return match
    return None


def classify_error(text: str, status: int | None = None, printed_at: float | None = None) -> ErrorMatch | None:
    """Return the category of an error that a tool reports, with its HTTP status if known; None if no pattern matches."""
    return _match_error(to_plain_text(text, _MAX_STATEMENT_CHARS), text, status, printed_at)


def find_last_line(tail: str) -> str:
    """Return the last meaningful line; of an error in JSON, its text."""
    last = next((text for text, _ in reversed([*_meaningful_lines(tail)])), "")
    return to_plain_text(_json_error_text(last) or last)


def _split_statements(tail: str) -> list[str]:
    """Return the unindented lines, each joined with the indented ones below it."""
    statements: list[str] = []
    for text, indented in _meaningful_lines(tail):
        if indented and statements and not statements[-1].startswith("{"):
            statements[-1] = f"{statements[-1]} {text}"[:_MAX_STATEMENT_CHARS]
        else:
            statements.append(text)
    return statements


def _meaningful_lines(tail: str) -> Iterator[tuple[str, bool]]:
    """Yield lines, and whether they are indented; without stack frames and table borders."""
    for line in tail.split("\n"):
        text = line.strip() if line.startswith("{") else to_plain_text(line, _MAX_STATEMENT_CHARS)
        if text and not _NOISE.fullmatch(text):
            yield text, line[:1].isspace()


def _match_statement(statement: str, after: str, printed_at: float | None) -> ErrorMatch | None:
    text = _json_error_text(statement)
    if text is None and (not _ERROR_START.match(statement) or _TEST_WORDING.search(statement)):
        return None
    # The time to wait may follow below.
    return _match_error(
        to_plain_text(text or statement, _MAX_STATEMENT_CHARS), f"{statement} {after}", None, printed_at
    )


def _match_error(text: str, whole: str, status: int | None, printed_at: float | None) -> ErrorMatch | None:
    category = _find_category(text, status)
    asked = parse_retry_after(whole, printed_at)
    unpaid = category is Category.QUOTA and (status == _PAYMENT_REQUIRED or _UNPAID.search(text))
    if asked and not unpaid and (category is Category.QUOTA or _RATE_LIMIT_WORDING.search(text)):
        category = Category.RATE_LIMIT  # some call a limit per minute a quota
    if category is None:
        return None
    return ErrorMatch(category, text, asked if category is Category.RATE_LIMIT else NO_RETRY_AFTER)


def _find_category(text: str, status: int | None) -> Category | None:
    for category, phrases in _CATEGORY_PATTERNS.items():
        if phrases.search(text):
            return category
    if status is None:
        match = _HTTP_STATUS.search(text)
        status = int(match[1]) if match else 0
        return Category.RATE_LIMIT if status == 429 else Category.OVERLOADED if status >= 500 else None
    return _CATEGORY_BY_STATUS.get(status, Category.OVERLOADED if status >= 500 else None)


def _json_error_text(line: str) -> str | None:
    """Return the text of an error in a line of JSON; None for anything else."""
    if not line.startswith("{"):
        return None
    try:
        tree = loads(line)
    except (ValueError, RecursionError):
        return None
    kind = tree.get("type")  # may be unhashable
    is_error = (
        tree.get("is_error") is True
        or kind in ("error", "turn.failed")
        or (tree.get("status") == "error" and kind in (None, "result"))  # not the status of a tool use
    )
    return " ".join(_error_texts(tree, _MAX_JSON_DEPTH)) if is_error else None


def _error_texts(tree: object, depth: int) -> Iterator[str]:
    """Yield the texts in the fields that tools use for errors."""
    if not isinstance(tree, dict) or not depth:
        return
    for name in _ERROR_FIELDS:
        text = tree.get(name)
        if isinstance(text, str):
            yield text
        elif isinstance(text, int) and not isinstance(text, bool):
            yield f"(status {text})"
        else:
            yield from _error_texts(text, depth - 1)
