"""Providers that refuse are left alone as long as they said, and trusted again step by step."""

from __future__ import annotations

from plait.core.decisions import BreakerClosed, BreakerOpened, LimitRaised
from plait.testing.laws.facts__book import Facts

# Who refuses again and again is not asked again at once, whatever it says.
REPEAT_SECONDS, MAX_REPEAT_SECONDS = 5.0, 600.0
# Where somebody has to log in or to pay, nothing changes within the hour.
MIN_REJECTED_SECONDS = 0.9 * 3600.0 - 1e-6


def check_breaker_opened(book: Facts, _at: float, event: BreakerOpened) -> None:
    page = book.providers.get(event.provider)
    if page is None or page.refuses_until is None:
        raise book.violation("breaker", f"{event.provider} was shut out, but did not refuse")
    least = 0.9 * min(MAX_REPEAT_SECONDS, REPEAT_SECONDS * 2 ** (page.streak - 1)) if page.streak else 0.0
    if event.until < (page.refused_at or 0.0) + least - 1e-6:
        raise book.violation("breaker", f"{event.provider} refused again and again and is asked too soon")
    if event.rejected is not page.rejecting:
        raise book.violation("breaker", f"{event.provider} was shut out for what it did not do")
    if event.rejected and event.until < (page.refused_at or 0.0) + MIN_REJECTED_SECONDS:
        raise book.violation("breaker", f"{event.provider} rejected somebody and is asked too soon")
    if page.limit is not None and event.limit < page.limit and not page.refused_since_opening:
        raise book.violation("breaker", f"one refusal of {event.provider} lowered its limit twice")
    if event.limit < 1:
        raise book.violation("breaker", f"{event.provider} would never be called again")


def check_breaker_closed(book: Facts, at: float, event: BreakerClosed) -> None:
    page = book.providers.get(event.provider)
    if page is None or page.until is None or (at < page.until and not page.may_be_restored):
        raise book.violation("breaker", f"the breaker of {event.provider} closed at {at}")


def check_limit_raised(book: Facts, _at: float, event: LimitRaised) -> None:
    page = book.providers.get(event.provider)
    if page is None or page.limit is None or page.until is not None:
        raise book.violation("provider-limit", f"nothing limits {event.provider}")
    if event.limit is not None and event.limit > page.limit + 1:
        raise book.violation("provider-limit", f"{event.provider} went from {page.limit} to {event.limit}")
