from __future__ import annotations

from hypothesis import given, strategies as st

from plait.store import checksums

BEFORE = checksums.compute_genesis("a journal")
texts = st.text(max_size=5)
contents = st.tuples(
    st.integers(1, 2**40),
    st.floats(allow_nan=False),
    st.integers(1, 9),
    st.binary(max_size=5),
    st.binary(max_size=9),
)


@given(contents, contents)
def test_two_records_share_a_check_only_when_they_are_the_same(
    one: checksums.RecordContent, other: checksums.RecordContent
) -> None:
    assert (checksums.compute_link(BEFORE, one) == checksums.compute_link(BEFORE, other)) == (one == other)


@given(st.binary(min_size=1, max_size=9), st.integers(0, 9))
def test_moving_bytes_between_kind_and_event_changes_the_check(text: bytes, cut: int) -> None:
    moved = checksums.compute_link(BEFORE, (1, 0.0, 1, text[:cut], text[cut:]))
    assert (moved == checksums.compute_link(BEFORE, (1, 0.0, 1, text, b""))) == (text[:cut] == text)


@given(contents)
def test_a_record_fits_in_one_place_of_one_journal(content: checksums.RecordContent) -> None:
    row = (*content, checksums.compute_link(BEFORE, content))
    seq = content[0]
    assert checksums.is_next_link(row, BEFORE, seq)
    assert not checksums.is_next_link(row, BEFORE, seq + 1)
    assert not checksums.is_next_link(row, checksums.compute_genesis("another"), seq)
    assert not checksums.is_next_link(row, checksums.compute_link(BEFORE, content), seq)


@given(contents, st.integers(1, 4), st.sampled_from([None, "text", b"bytes", 7, 0.5]))
def test_a_value_of_another_type_is_damage_not_a_failure(
    content: checksums.RecordContent, place: int, other: object
) -> None:
    row = [*content, checksums.compute_link(BEFORE, content)]
    row[place] = other
    assert not checksums.is_next_link(tuple(row), BEFORE, content[0]) or row[place] == content[place]  # type: ignore[arg-type]


@given(st.dictionaries(texts, texts, max_size=3), st.dictionaries(texts, texts, max_size=3))
def test_settings_share_a_digest_only_when_they_are_the_same(one: dict[str, str], other: dict[str, str]) -> None:
    same = checksums.digest_settings(one) == checksums.digest_settings(other)
    assert same == (one == other)
    assert checksums.digest_settings(dict(reversed(one.items()))) == checksums.digest_settings(one)
