"""How the votes of judges are counted."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from plait.core.ballot import Ballot, BallotResult, Vote, count_votes

NAMES = ("a", "b", "c", "d")  # the smallest change first


def vote(ranking: str, rejected: str = "") -> Vote:
    return Vote("judge", tuple(ranking), tuple(rejected))


NO_VOTE = Vote("judge", failure="timed out")


@st.composite
def votes(draw: st.DrawFn) -> Vote:
    order = draw(st.permutations(NAMES))
    accepted = draw(st.integers(0, len(NAMES)))
    return Vote("judge", tuple(order[:accepted]), tuple(order[accepted:]))


panels = st.lists(st.one_of(votes(), st.just(NO_VOTE)), min_size=1, max_size=9)


@pytest.mark.parametrize(
    ("ballots", "result", "order"),
    [
        ([vote("ba"), vote("ba"), vote("ba")], BallotResult.MAJORITY, "ba"),
        ([vote("ba"), vote("ab"), vote("ba")], BallotResult.MAJORITY, "ba"),
        ([vote("ba")], BallotResult.MAJORITY, "ba"),
        ([vote("ba"), NO_VOTE, vote("ba")], BallotResult.MAJORITY, "ba"),
        ([vote("ba"), NO_VOTE], BallotResult.NO_QUORUM, "ab"),  # half is not more than half
        ([NO_VOTE], BallotResult.NO_QUORUM, "ab"),
        ([vote("ab"), vote("ba")], BallotResult.TIE, "ab"),
        ([vote("", "ab"), vote("", "ba"), vote("ab")], BallotResult.ALL_REJECTED, ""),
        ([vote("", "ab")], BallotResult.ALL_REJECTED, ""),
        ([vote("b", "a"), vote("b", "a"), vote("ab")], BallotResult.MAJORITY, "b"),
        ([vote("b", "a"), vote("ab")], BallotResult.TIE, "ab"),  # half of the votes reject nobody
        ([vote("b", "a"), vote("", "ab"), vote("b", "a"), vote("", "ab")], BallotResult.POINTS, "b"),
    ],
)
def test_votes_are_counted(ballots: list[Vote], result: BallotResult, order: str) -> None:
    count = count_votes("ab", ballots)
    assert (count.result, "".join(count.order)) == (result, order)


def test_without_a_majority_the_most_points_win() -> None:
    """Each is first once, but b is second twice."""
    ballots = [vote("abc"), vote("bca"), vote("cba")]
    count = count_votes("abc", ballots)
    assert (count.result, count.order) == (BallotResult.POINTS, ("b", "c", "a"))
    assert count.why == "no majority, and it has the most points (4)"


def test_what_a_vote_says_about_others_is_ignored() -> None:
    """An entrant that failed after it was chosen is no candidate any more; the votes that chose it still count."""
    assert count_votes("bc", [vote("abc"), vote("acb"), vote("acb")]).order == ("c", "b")


@given(panels, st.randoms())
def test_the_order_of_the_judges_does_not_matter(panel: list[Vote], random: object) -> None:
    shuffled = list(panel)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # a Random
    first, second = count_votes(NAMES, panel), count_votes(NAMES, shuffled)
    assert (first.result, first.order) == (second.result, second.order)


@given(panels, st.sampled_from(NAMES))
def test_whom_most_votes_put_first_wins(panel: list[Vote], best: str) -> None:
    cast = [each for each in panel if not each.failure]
    more = [Vote("judge", (best, *(name for name in NAMES if name != best)))] * (len(panel) + 1)
    count = count_votes(NAMES, [*panel, *more])
    assert len(more) * 2 > len(cast) + len(more)
    assert (count.result, count.order[0]) == (BallotResult.MAJORITY, best)


@given(panels)
def test_a_missing_vote_only_counts_against_the_quorum(panel: list[Vote]) -> None:
    cast = [each for each in panel if not each.failure]
    count = count_votes(NAMES, panel)
    if 2 * len(cast) <= len(panel):
        assert (count.result, count.order) == (BallotResult.NO_QUORUM, NAMES)
    else:
        without = count_votes(NAMES, cast)
        assert (count.result, count.order) == (without.result, without.order)


@given(panels)
def test_whom_most_votes_reject_cannot_be_taken(panel: list[Vote]) -> None:
    cast = [each for each in panel if not each.failure]
    count = count_votes(NAMES, panel)
    if count.result is BallotResult.NO_QUORUM:
        return
    rejected = {name for name in NAMES if 2 * sum(name in each.rejected for each in cast) > len(cast)}
    assert set(count.order) == set(NAMES) - rejected
    assert (count.result is BallotResult.ALL_REJECTED) == (not count.order)


def test_a_ballot_is_described_for_people() -> None:
    assert Ballot(BallotResult.TIE, (vote("ab"), vote("ba"), NO_VOTE)).describe() == (
        "2 of 3 judges voted; tie: the smallest change wins"
    )
    assert Ballot(BallotResult.NO_QUORUM, (NO_VOTE,)).describe() == (
        "0 of 1 judge voted; no quorum: the smallest change wins"
    )
