"""What is secret is redacted, and nothing else is touched."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, strategies as st

from plait.agents.interface import Activity, PhaseStarted
from plait.agents.output_parser import PlainTextParser
from plait.agents.redaction import (
    REDACTED,
    LineRedactor,
    RedactingParser,
    Redactor,
    StreamRedactor,
    build_redactor,
    is_secret,
)

VALUE = "correct-horse-7"
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\nAASCBKcwggSjAgEAAoIBAQC7\nQUJDRA==\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENAI_API_KEY", VALUE),
        ("GITHUB_TOKEN", VALUE),
        ("npm_config_token", VALUE),
        ("AWS_SECRET_ACCESS_KEY", "/wJalrXUtnFEMI1K7MDENG/bPxRfiCYEXAMPLEKEY"),
        ("PGPASSWORD", VALUE),
        ("DB_PASSWD", VALUE),
        ("GOOGLE_CREDENTIALS", VALUE),
        ("SIGNING_KEY", VALUE),
        ("GITLAB_PAT", VALUE),
        ("MY_PW", VALUE),
        ("SECRET", "with space in it"),
    ],
)
def test_a_variable_is_secret_by_its_name(name: str, value: str) -> None:
    assert is_secret(name, value)
    assert build_redactor({name: value})(f"a {value} b") == f"a {REDACTED} b"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PATH", "/usr/local/bin:/usr/bin"),
        ("EDITOR", VALUE),
        ("KEYBOARD", VALUE),
        ("PATIENCE", VALUE),
        ("PWD", "/home/somebody/a-project-with-a-very-long-name-indeed"),
        ("API_KEY", "short"),
        ("SSH_KEY_FILE", "/home/somebody/.ssh/id_ed25519"),
        ("TOKEN_URL", "https://example.org/token"),
        ("MAX_OUTPUT_TOKENS", "128000000"),
        ("GIT_ASKPASS", "/usr/lib/git/ask"),
        ("POSTGRES_PASSWORD", "postgres"),
    ],
)
def test_other_variables_are_not_secret(name: str, value: str) -> None:
    assert not is_secret(name, value)
    assert build_redactor({name: value})(f"a {value} b") == f"a {value} b"


def test_a_password_in_an_address_is_hidden_everywhere() -> None:
    hide = build_redactor({"DATABASE_URL": f"postgres://app:{VALUE}@db/app"})
    assert hide(f"as app with {VALUE} at db") == f"as app with {REDACTED} at db"
    assert build_redactor({"DATABASE_URL": "mysql://postgres:postgres@db/x"})("a postgres b") == "a postgres b"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("key sk-ant-api03-abcDEF_123456789 here", "key *** here"),
        ("OPENAI=sk-proj-1234567890abcdefg", "OPENAI=***"),
        ("ghp_0123456789abcdefghijABCDEFGHIJ012345.", "***."),
        ("gho_0123456789abcdefghijABCDEFGHIJ012345", "***"),
        ("github_pat_11ABCDEFG0123456789_abcdefghij", "***"),
        ("glpat-abcdefghij0123456789", "***"),
        ("xoxb-1234567890-abcdefghij", "***"),
        ("AKIAIOSFODNN7EXAMPLE is it", "*** is it"),
        ("AIzaSyA1234567890abcdefghijklmnopqrstuvw", "***"),
        ("sk_live_0123456789abcdefABCDEF", "***"),
        ("hf_abcdefghijklmnopqrstuvwxyz01234567", "***"),
        ("t=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-DEF_123;", "t=***;"),
        ("Authorization: Bearer abcdef123456", "Authorization: Bearer ***"),
        ("authorization: basic dXNlcjpwYXNz", "authorization: basic ***"),
        ("-H 'x-api-key: 0123456789'", "-H 'x-api-key: ***'"),
        ("a bearer abcdefghij0123456789 b", "a bearer *** b"),
        ("git clone https://bob:pa55@example.org/x.git", "git clone https://bob:***@example.org/x.git"),
        ("postgres://:pa55@db/x", "postgres://:***@db/x"),
    ],
)
def test_a_key_is_recognised_by_its_shape(text: str, told: str) -> None:
    assert Redactor()(text) == told


@pytest.mark.parametrize(
    "text",
    [
        "task-force-one-and-many-others-2026",
        "sk-folding-cube-of-a-style-sheet",
        "disk-0123456789abcdefghij",
        "the authorization: bearer token is required",
        "http://localhost:8080/a@b and http://[::1]:80/",
        "mail bob@example.org: hello",
        "eyJ is how they begin",
        "MAKIAVELLI0123456789ABCDEF",
        "-----BEGIN PUBLIC KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\n-----END PUBLIC KEY-----",
        "3f786850e387550fdab836ed7e6dc881de23001b",
        "",
    ],
)
def test_text_that_only_looks_like_a_key_stays(text: str) -> None:
    assert Redactor()(text) == text


def test_a_redacted_private_key_keeps_its_lines() -> None:
    assert Redactor()(f"a\n{KEY}\nafter that") == (
        "a\n-----BEGIN RSA PRIVATE KEY-----\n***\n***\n***\n-----END RSA PRIVATE KEY-----\nafter that"
    )


def test_the_lines_of_a_private_key_are_hidden_one_by_one() -> None:
    hide = LineRedactor(Redactor())
    assert [hide(line) for line in KEY.split("\n")][1:4] == ["***", "***", "***"]
    assert hide("3f786850e387550fdab836ed7e6dc881de23001b") == "3f786850e387550fdab836ed7e6dc881de23001b"


def test_a_private_key_without_an_end_hides_only_itself() -> None:
    hide = LineRedactor(Redactor())
    told = [
        hide(line)
        for line in (
            "-----BEGIN PRIVATE KEY-----",
            "MIIEvQIBADANBgkqhkiG9w0",
            "it says.",
            "3f786850e387550fdab8",
        )
    ]
    assert told[1:] == ["***", "it says.", "3f786850e387550fdab8"]


@pytest.mark.parametrize("value", ['pass"word\\x', "zwölf Boxkämpfer", VALUE])
def test_a_secret_is_recognised_in_json(value: str) -> None:
    hide = build_redactor({"A_PASSWORD": value})
    for ascii_only in (True, False):
        line = json.dumps({"type": "text", "text": f"it is {value}, I think"}, ensure_ascii=ascii_only)
        assert json.loads(hide(line)) == {"type": "text", "text": "it is ***, I think"}


@pytest.mark.parametrize(
    "said",
    [
        KEY,
        "curl -H 'Authorization: Bearer abcdef123456'",
        'x-api-key: "0123456789"',
        "https://a:b@c",
        "sk-" + "a1" * 20,
    ],
)
def test_redacted_json_stays_json(said: str) -> None:
    inner = json.dumps({"text": said})
    for line in (inner, json.dumps({"line": inner})):
        told = Redactor()(line)
        assert told != line
        json.loads(told)


def test_the_parts_of_a_structured_secret_are_hidden() -> None:
    document = json.dumps({"type": "service", "private_key_id": "0123456789abcdef0123"})
    hide = build_redactor({"GOOGLE_CREDENTIALS": document, "DEPLOY_KEY": KEY})
    assert json.loads(hide(document)) == {"type": "service", "private_key_id": REDACTED}
    assert hide("AASCBKcwggSjAgEAAoIBAQC7") == REDACTED


def test_the_longer_of_two_overlapping_secrets_is_hidden() -> None:
    assert (
        build_redactor({"A_TOKEN": "abcdefgh", "B_TOKEN": "abcdefgh-ijkl"})("x abcdefgh-ijkl abcdefgh") == "x *** ***"
    )


@given(st.lists(st.text(max_size=20)), st.text())
def test_redaction_is_idempotent_and_keeps_all_lines(values: list[str], text: str) -> None:
    hide = Redactor(values)
    assert hide(text).count("\n") == text.count("\n")
    once = hide(f"{text} sk-ant-0123456789abcdefgh {KEY}")
    assert Redactor()(once) == once


@given(st.integers(1, 40))
def test_a_secret_is_hidden_wherever_a_stream_is_cut(size: int) -> None:
    text = f"one {VALUE} two\n{KEY}\nAuthorization: Bearer abcdef123456\nthree {VALUE}"
    hide = build_redactor({"A_TOKEN": VALUE})
    stream = StreamRedactor(hide)
    told = "".join(stream.feed(text[at : at + size]) for at in range(0, len(text), size)) + stream.finish()
    assert told == hide(text)


def test_an_overlong_line_is_passed_on_in_parts() -> None:
    stream = StreamRedactor(build_redactor({"A_TOKEN": VALUE}))
    piece = "x" * 1000 + VALUE
    told = [stream.feed(piece) for _ in range(200)]
    assert sum(map(len, told)) > 50_000
    assert "".join(told) + stream.finish() == ("x" * 1000 + REDACTED) * 200


def test_a_secret_that_a_long_line_is_cut_in_is_hidden_whole() -> None:
    key = "sk-ant-" + "a1" * 50
    for cut in range(0, len(key), 7):
        stream = StreamRedactor(Redactor())
        line = " " * StreamRedactor.MAX_LINE_CHARS + key + " " * (StreamRedactor.KEPT_CHARS - cut)
        assert stream.feed(line).strip() + stream.finish().strip() == REDACTED


def test_colours_inside_a_secret_do_not_show_it() -> None:
    hide = build_redactor({"A_TOKEN": VALUE})
    assert (
        hide(f"\x1b[1ma {VALUE[:4]}\x1b[31m{VALUE[4:9]}\x1b[0m{VALUE[9:]} b\x1b[0m") == f"\x1b[1ma {REDACTED} b\x1b[0m"
    )
    assert hide("\x1b[1mno secret\x1b[0m") == "\x1b[1mno secret\x1b[0m"
    assert hide(f"\x9b1m{VALUE}") == f"\x9b1m{REDACTED}"


def test_the_last_line_of_a_private_key_in_json_is_hidden_also_if_the_others_are_known() -> None:
    hide = build_redactor({"DEPLOY_KEY": KEY})
    assert "QUJDRA" not in hide(json.dumps({"text": KEY}))


@pytest.mark.parametrize(
    "line",
    ["eyJ", "sk-", "://a:", "-----BEGIN PRIVATE KEY-----", "bearer ", "authorization: ", "x-", "gh", "AKIA"],
)
def test_no_line_takes_long_to_redact(line: str) -> None:
    """A pattern that tries each place over and over would take hours for this."""
    assert len(Redactor()(line * (1_000_000 // len(line)))) > 0


def test_a_redacting_parser_reports_no_secret() -> None:
    listener = RedactingParser(PlainTextParser(use_output=True), build_redactor({"A_TOKEN": VALUE}))
    phase, activity = listener.feed(f"═══ Phase 2: use {VALUE} ═══")
    assert (phase, activity) == (PhaseStarted("Phase 2: use ***"), Activity("═══ Phase 2: use *** ═══"))
    padding = "x" * 190  # so that only the beginning of the secret would fit
    ended = listener.finish(1, f"{padding}{VALUE}\n", 0.0)
    assert "corr" not in ended.detail


def test_the_end_of_a_text_has_no_part_of_a_secret() -> None:
    redactor, text = Redactor([VALUE]), f"one {VALUE} two"
    for size in range(len(text) + 2):
        kept = text[max(0, len(text) - size) :]
        begins_inside = len("two ") < size < len(f"{VALUE} two")
        assert redactor.redact_end(text, size) == ("*** two" if begins_inside else redactor(kept)), size


@pytest.mark.parametrize("around", [("", ""), ("u:", ""), ("user:", "\n"), ("x", "yz")])
def test_a_secret_is_recognised_in_base64_and_in_addresses(around: tuple[str, str]) -> None:
    secret = "p4ss/w?rd+ÿ>>~é"
    hide = build_redactor({"DB_PASSWORD": secret})
    data = f"{around[0]}{secret}{around[1]}".encode()
    for encoded in (base64.b64encode(data), base64.urlsafe_b64encode(data)):
        shown = hide(f"Basic: {encoded.decode()}.")
        assert REDACTED in shown
        assert not any(encoded.decode()[at : at + 8] in shown for at in range(8, len(encoded) - 15))
    for spelling in (quote(secret), quote(secret, safe=""), quote_plus(secret)):
        assert spelling not in hide(f"https://u:{spelling}@example.org/?token={spelling}&x=1")
