"""What a Journal and a JournalReader must do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from threading import Event as Flag, Thread

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from plait.core.events import Event, Record
from plait.store.interfaces import Journal, JournalGapError, JournalReader
from plait.testing.contracts.sample_records import FEW_EXAMPLES, facts, make_records, number_records

OpenJournal = Callable[[], Journal]
OpenReader = Callable[[Journal], JournalReader]


class JournalContract:
    """Provide `fresh`, which makes a new, empty journal each time, and `reader_of`, which opens a reader of one."""

    @pytest.fixture
    def fresh(self) -> OpenJournal:
        raise NotImplementedError

    @pytest.fixture
    def reader_of(self) -> OpenReader:
        raise NotImplementedError

    @pytest.fixture
    def journal(self, fresh: OpenJournal) -> Journal:
        return fresh()

    @pytest.fixture
    def reader(self, journal: Journal, reader_of: OpenReader) -> Iterator[JournalReader]:
        with closing(reader_of(journal)) as reader:
            yield reader

    def test_a_new_one_is_empty(self, journal: Journal) -> None:
        assert journal.last() == 0
        assert list(journal.read()) == []
        assert journal.settings() == {}
        assert not journal.wait(0, timeout=0)

    def test_what_was_appended_is_read_back(self, journal: Journal, reader: JournalReader) -> None:
        journal.append(make_records(1, 3))
        journal.append(make_records(4, 4))
        for each in (journal, reader):
            assert each.last() == 4
            assert list(each.read()) == make_records(1, 4)
            assert list(each.read(after=2)) == make_records(3, 4)
            assert list(each.read(after=4)) == []
            assert list(each.read(after=99)) == []

    def test_many_at_once_are_one_append(self, journal: Journal, reader: JournalReader) -> None:
        journal.append(make_records(1, 2_000))
        assert list(reader.read(after=700)) == make_records(701, 2_000)

    @pytest.mark.parametrize("at", [0.0, -0.0, -1.5, 5e-324, 1.7e308, float("inf")])
    def test_any_time_is_kept_as_it_is(self, journal: Journal, at: float) -> None:
        record = replace(make_records(1, 1)[0], at=at)
        journal.append([record])
        assert list(journal.read()) == [record]

    def test_an_empty_append_is_none(self, journal: Journal) -> None:
        journal.append([])
        assert journal.last() == 0

    @pytest.mark.parametrize(
        "wrong",
        [
            make_records(2, 2),
            make_records(4, 4),
            make_records(3, 4) + make_records(6, 6),
            make_records(3, 3) * 2,
            make_records(0, 0),
        ],
        ids=["again", "a gap before", "a gap within", "the same twice", "from nought"],
    )
    def test_a_gap_is_refused_and_nothing_is_written(self, journal: Journal, wrong: list[Record]) -> None:
        journal.append(make_records(1, 2))
        with pytest.raises(JournalGapError, match="is next"):
            journal.append(wrong)
        assert list(journal.read()) == make_records(1, 2)
        journal.append(make_records(3, 3))
        assert list(journal.read()) == make_records(1, 3)

    def test_a_read_ends_where_the_journal_ended_when_it_began(self, journal: Journal) -> None:
        journal.append(make_records(1, 600))
        reading = journal.read()
        first = next(reading)
        journal.append(make_records(601, 601))
        assert [first, *reading] == make_records(1, 600)
        assert list(journal.read(after=600)) == make_records(601, 601)

    def test_an_id_is_made_once_per_journal(self, fresh: OpenJournal, reader_of: OpenReader) -> None:
        one, other = fresh(), fresh()
        assert one.id
        assert one.id != other.id
        with closing(reader_of(one)) as reader:
            assert reader.id == one.id

    def test_waiting_ends_at_once_when_there_is_something(self, journal: Journal) -> None:
        journal.append(make_records(1, 2))
        assert journal.wait(1, timeout=0)
        assert not journal.wait(2, timeout=0.02)

    def test_waiting_ends_when_something_is_appended(self, journal: Journal, reader_of: OpenReader) -> None:
        waiting, seen = Flag(), list[Record]()

        def tail() -> None:
            reader = reader_of(journal)
            waiting.set()
            while len(seen) < 3:
                assert reader.wait(len(seen), timeout=30)
                seen.extend(reader.read(len(seen)))
            reader.close()

        thread = Thread(target=tail, daemon=True)
        thread.start()
        assert waiting.wait(timeout=30)
        journal.append(make_records(1, 1))
        journal.append(make_records(2, 3))
        thread.join(timeout=10)
        assert not thread.is_alive(), "it was not woken"
        assert seen == make_records(1, 3)

    def test_settings_are_set_changed_and_forgotten(self, journal: Journal, reader: JournalReader) -> None:
        journal.append(make_records(1, 1))
        journal.commit({"slots": "4", "theme": '"dark"', "left": "0"})
        journal.commit({"slots": "5", "theme": None, "never set": None})
        journal.commit({})
        for each in (journal, reader):
            assert each.settings() == {"slots": "5", "left": "0"}
            assert list(each.read()) == make_records(1, 1)

    def test_settings_are_saved_with_the_records_that_say_so_or_not_at_all(
        self, journal: Journal, reader: JournalReader
    ) -> None:
        journal.commit({"slots": "4"}, make_records(1, 2))
        with pytest.raises(JournalGapError):
            journal.commit({"slots": "5"}, make_records(4, 4))
        journal.commit({}, make_records(3, 3))
        for each in (journal, reader):
            assert each.settings() == {"slots": "4"}
            assert list(each.read()) == make_records(1, 3)

    def test_closing_twice_is_closing(self, journal: Journal, reader: JournalReader) -> None:
        reader.close()
        reader.close()
        journal.close()
        journal.close()

    def test_it_is_a_list_and_a_mapping(self, fresh: OpenJournal, reader_of: OpenReader) -> None:
        """Whatever is done to it, it has the same content as a plain list and a plain dict."""

        class Model(RuleBasedStateMachine):
            def __init__(self) -> None:
                super().__init__()
                self.journal = fresh()
                self.reader = reader_of(self.journal)
                self.list: list[Record] = []
                self.dict: dict[str, str] = {}

            @rule(new=st.lists(facts, max_size=5))
            def append(self, new: list[tuple[float, Event]]) -> None:
                added = number_records(new, after=len(self.list))
                self.journal.append(added)
                self.list += added

            @rule(gap=st.integers(-3, 3).filter(lambda gap: gap != 0))
            def append_elsewhere(self, gap: int) -> None:
                place = len(self.list) + 1 + gap
                with pytest.raises(JournalGapError):
                    self.journal.append(make_records(place, place))

            @rule(
                changes=st.dictionaries(st.text(max_size=3), st.none() | st.text(max_size=9), max_size=3),
                new=st.lists(facts, max_size=2),
            )
            def save(self, changes: Mapping[str, str | None], new: list[tuple[float, Event]]) -> None:
                added = number_records(new, after=len(self.list))
                self.journal.commit(changes, added)
                self.list += added
                merged = {**self.dict, **changes}
                self.dict = {name: value for name, value in merged.items() if value is not None}

            @rule(after=st.integers(0, 20))
            def read(self, after: int) -> None:
                assert list(self.reader.read(after)) == self.list[after:]

            @invariant()
            def same(self) -> None:
                assert self.reader.last() == self.journal.last() == len(self.list)
                assert self.reader.settings() == self.dict

            def teardown(self) -> None:
                assert list(self.journal.read()) == self.list
                self.reader.close()
                self.journal.close()

        run_state_machine_as_test(Model, settings=FEW_EXAMPLES)
