"""What an Inbox must do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from plait.core.requests import Pause, Unpause
from plait.store.interfaces import Inbox

OpenInbox = Callable[[], Inbox]
ReopenInbox = Callable[[Inbox], Inbox]
ONE, TWO, THREE = Pause("1", "b"), Unpause("2", "b"), Pause("3", "b")


class InboxContract:
    """Provide `fresh`, which makes a new, empty inbox each time, and `again`, which opens the same one once more."""

    @pytest.fixture
    def fresh(self) -> OpenInbox:
        raise NotImplementedError

    @pytest.fixture
    def again(self) -> ReopenInbox:
        raise NotImplementedError

    @pytest.fixture
    def inbox(self, fresh: OpenInbox) -> Inbox:
        return fresh()

    @pytest.fixture
    def other(self, inbox: Inbox, again: ReopenInbox) -> Iterator[Inbox]:
        with closing(again(inbox)) as other:
            yield other

    def test_a_new_one_is_empty(self, inbox: Inbox) -> None:
        assert list(inbox.pending()) == []
        assert inbox.unreadable() == {}

    def test_requests_come_out_in_the_order_they_arrived(self, inbox: Inbox, other: Inbox) -> None:
        for request in (TWO, ONE, THREE):
            inbox.put(request)
        assert list(other.pending()) == [TWO, ONE, THREE]

    def test_a_request_is_pending_until_it_is_taken(self, inbox: Inbox, other: Inbox) -> None:
        inbox.put(ONE)
        inbox.put(TWO)
        assert list(other.pending()) == list(other.pending()) == [ONE, TWO]
        other.mark_taken(["1"])
        inbox.put(THREE)
        assert list(inbox.pending()) == [TWO, THREE]
        other.mark_taken(["3", "2"])
        other.mark_taken([])
        assert list(inbox.pending()) == []

    def test_a_second_copy_is_ignored(self, inbox: Inbox, other: Inbox) -> None:
        inbox.put(ONE)
        inbox.put(TWO)
        other.put(ONE)
        inbox.put(Pause("2", "another batch"))
        assert list(inbox.pending()) == [ONE, TWO]

    def test_a_second_copy_is_ignored_even_after_the_first_was_taken(self, inbox: Inbox, other: Inbox) -> None:
        inbox.put(ONE)
        other.mark_taken(["1"])
        inbox.put(ONE)
        assert list(inbox.pending()) == []

    def test_an_id_that_was_never_here_can_be_taken(self, inbox: Inbox) -> None:
        """An engine does this after a crash, for requests that its journal holds."""
        inbox.mark_taken(["1", "1"])
        inbox.put(ONE)
        assert list(inbox.pending()) == []
