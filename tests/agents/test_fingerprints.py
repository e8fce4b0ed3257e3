"""Fingerprints recognise a secret wherever it is in a text, and nothing else."""

from __future__ import annotations

from hypothesis import given, strategies as st

from plait.agents.fingerprints import KEY_BYTES, FingerprintRedactor, make_fingerprints
from plait.agents.redaction import Redactor

KEY = bytes(KEY_BYTES)
SECRETS = st.lists(st.text("abc-é🧵", min_size=8, max_size=12), max_size=3)


@given(SECRETS, st.lists(st.one_of(st.text("abc-é🧵", max_size=30), SECRETS.map("".join))))
def test_a_fingerprint_finds_what_its_secret_would(secrets: list[str], parts: list[str]) -> None:
    text = " ".join([*parts, *secrets])
    redactor = Redactor(secrets)
    assert FingerprintRedactor(make_fingerprints(redactor.values, KEY), KEY)(text) == redactor(text)


def test_a_fingerprint_needs_the_key_it_was_made_with() -> None:
    fingerprints = make_fingerprints(["correct-horse-7"], KEY)
    assert FingerprintRedactor(fingerprints, KEY)("a correct-horse-7 b") == "a *** b"
    assert FingerprintRedactor(fingerprints, b"x" * KEY_BYTES)("a correct-horse-7 b") == "a correct-horse-7 b"


def test_two_secrets_with_the_same_beginning_are_both_found() -> None:
    fingerprints = make_fingerprints(["abcdefgh", "abcdefgh-ijkl"], KEY)
    assert FingerprintRedactor(fingerprints, KEY)("abcdefgh-ijkl abcdefgh abcdefg") == "*** *** abcdefg"
