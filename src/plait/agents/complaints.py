"""Why a tool failed, by its last words.

Tools of any kind talk of rate limits: the task may be about them. So a phrase counts only where a tool dies: in one of
its last statements, and only if that begins as a complaint does. A rate limit that is taken for a failure costs a retry;
a failure that is taken for a rate limit goes round for ever. In doubt it is a failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from json import loads

from plait.agents.plain import plain
from plait.agents.waits import NO_WAIT, Wait, wait
from plait.core.frozen import dataclass
from plait.core.late import pattern
from plait.core.status import Category

STATEMENTS = 5  # so many of the last ones are looked at
_MOST = 2000  # characters of one that are looked at
_DEPTH = 4

# How a complaint begins: with the word, with an exception's name, or with what some tool is known to say.
_COMPLAINT = pattern(
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

# What tests say of what they test.
_EXPECTS = pattern(
    r"\b(?:expected|asserts?|asserted|assertion|but (?:got|was|received)|tests? fail(?:ed|s|ure))\b",
    re.IGNORECASE,
)

# The first that is found says what it was.
_PHRASES: Mapping[Category, re.Pattern[str]] = {
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

# Anybody may say this; with the time to wait for, it is the provider who does.
_LIMITED = pattern(r"rate limit (?:was |has been )?(?:reached|exceeded|hit)", re.IGNORECASE)

# A status of HTTP, where it is called one.
_STATUS = pattern(
    r"(?:status(?:code|_code|[ ]code)?|http(?:/[\d.]+)?|(?:api_)?error(?:_status|[ ]code)?|code|rejected)"
    r"[\"']?[\s:=(\[]{1,3}[\"']?([45]\d\d)\b",
    re.IGNORECASE,
)
# What a provider's answer means, where a tool tells its number and not only a text with numbers in it.
_BY_STATUS: Mapping[int, Category] = {
    401: Category.AUTH,
    402: Category.QUOTA,
    403: Category.AUTH,
    413: Category.CONTEXT,
    429: Category.RATE_LIMIT,
}
# Where JSON tells what went wrong.
_NAMES = ("message", "result", "error", "data", "name", "code", "statusCode", "api_error_status")
_NOISE = pattern(r"\s*(?:at .*[(:/].*|[^\w\s]*|[\u2500-\u257f].*)")


@dataclass(frozen=True, slots=True)
class Complaint:
    category: Category
    said: str
    wait: Wait


def complaint(tail: str, said_at: float | None = None) -> Complaint | None:
    """The last thing a tool complained of, if it is something that plait has an answer to."""
    statements = _statements(tail)[-STATEMENTS:]
    for place in range(len(statements) - 1, -1, -1):
        found = _judged(statements[place], " ".join(statements[place + 1 :]), said_at)
        if found is not None:
            return found
    return None


def judged(said: str, status: int | None = None, said_at: float | None = None) -> Complaint | None:
    """What a tool names as its error, with the status of HTTP where it tells one; None: nothing that plait knows."""
    return _complaint(plain(said, _MOST), said, status, said_at)


def last_line(tail: str) -> str:
    """The last line that says something; of a line of JSON that complains, what it complains of."""
    said = [text for text, _ in _lines(tail)]
    return plain(_told(said[-1]) or said[-1]) if said else ""


def _statements(tail: str) -> list[str]:
    """Lines that are not indented, each with what is indented below it."""
    found: list[str] = []
    for text, indented in _lines(tail):
        if indented and found and not found[-1].startswith("{"):
            found[-1] = f"{found[-1]} {text}"[:_MOST]
        else:
            found.append(text)
    return found


def _lines(tail: str) -> Iterator[tuple[str, bool]]:
    """Without frames of a stack and the pictures of tables; with whether it is indented."""
    for line in tail.split("\n"):
        text = line.strip() if line.startswith("{") else plain(line, _MOST)
        if text and not _NOISE.fullmatch(text):
            yield text, line[:1].isspace()


def _judged(statement: str, after: str, said_at: float | None) -> Complaint | None:
    told = _told(statement)
    if told is None and (not _COMPLAINT.match(statement) or _EXPECTS.search(statement)):
        return None
    # Tools say below what to do.
    return _complaint(plain(told or statement, _MOST), f"{statement} {after}", None, said_at)


def _complaint(said: str, whole: str, status: int | None, said_at: float | None) -> Complaint | None:
    category = _category(said, status)
    asked = wait(whole, said_at)
    if asked and (category is Category.QUOTA or _LIMITED.search(said)):
        category = Category.RATE_LIMIT  # some call it a quota that is filled up again each minute
    if category is None:
        return None
    return Complaint(category, said, asked if category is Category.RATE_LIMIT else NO_WAIT)


def _category(said: str, status: int | None) -> Category | None:
    for category, phrases in _PHRASES.items():
        if phrases.search(said):
            return category
    if status is None:
        found = _STATUS.search(said)
        status = int(found[1]) if found else 0
        return Category.RATE_LIMIT if status == 429 else Category.OVERLOADED if status >= 500 else None
    return _BY_STATUS.get(status, Category.OVERLOADED if status >= 500 else None)


def _told(line: str) -> str | None:
    """What a line of JSON complains of, as text; None if it is no JSON, or does not complain."""
    if not line.startswith("{"):
        return None
    try:
        tree = loads(line)
    except (ValueError, RecursionError):
        return None
    sort = tree.get("type")  # which may be anything, also what fits into no set
    complains = (
        tree.get("is_error") is True
        or sort in ("error", "turn.failed")
        or (tree.get("status") == "error" and sort in (None, "result"))  # not of what it used
    )
    return " ".join(_texts(tree, _DEPTH)) if complains else None


def _texts(tree: object, depth: int) -> Iterator[str]:
    """What is told under the names that tools use for it."""
    if not isinstance(tree, dict) or not depth:
        return
    for name in _NAMES:
        said = tree.get(name)
        if isinstance(said, str):
            yield said
        elif isinstance(said, int) and not isinstance(said, bool):
            yield f"(status {said})"
        else:
            yield from _texts(said, depth - 1)
