"""The votes of a contest's judges, and how they are counted.

1. More than half of the judges must have voted, or there is no quorum.
2. A candidate that more than half of the votes reject is out. If all are out, there is no winner.
3. The candidate that more than half of the votes put first wins.
4. Otherwise each vote gives a candidate a point for every other one that it puts below it or rejects; most points win.
5. With equal points it is a tie.

In a tie and without a quorum, the order of the candidates decides: the smallest change comes first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from plait.core.fast_dataclass import dataclass
from plait.core.text import join_names


class BallotResult(StrEnum):
    """How the winner was found, or why there is none."""

    MAJORITY = "majority"
    POINTS = "points"
    TIE = "tie"
    NO_QUORUM = "no_quorum"
    ALL_REJECTED = "all_rejected"


@dataclass(frozen=True, slots=True)
class Vote:
    """One judge's vote: the entrants ranked best first, and the rejected ones. `failure` says why there is no vote."""

    judge: str
    ranking: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    reason: str = ""
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Ballot:
    """All votes of one contest, one from each judge, and their result."""

    result: BallotResult
    votes: tuple[Vote, ...] = ()

    def describe(self) -> str:
        """Describe the result in a sentence for people, such as "3 of 4 judges voted; majority"."""
        cast = sum(not vote.failure for vote in self.votes)
        judges = "judge" if len(self.votes) == 1 else "judges"
        return f"{cast} of {len(self.votes)} {judges} voted; {_RESULT_TEXTS[self.result]}"


_RESULT_TEXTS = {
    BallotResult.MAJORITY: "majority",
    BallotResult.POINTS: "no majority: the most points win",
    BallotResult.TIE: "tie: the smallest change wins",
    BallotResult.NO_QUORUM: "no quorum: the smallest change wins",
    BallotResult.ALL_REJECTED: "all candidates rejected",
}


@dataclass(frozen=True, slots=True)
class VoteCount:
    """The result: acceptable candidates in `order`, best first; `why` the first one won, or why there is none."""

    result: BallotResult
    order: tuple[str, ...]
    why: str


def count_votes(candidates: Sequence[str], votes: Sequence[Vote]) -> VoteCount:
    """Count the votes for `candidates`, whose order decides a tie. Entrants that are not candidates are ignored."""
    cast = [vote for vote in votes if not vote.failure]
    if 2 * len(cast) <= len(votes) or not cast:
        judges = "judge" if len(votes) == 1 else "judges"
        why = f"its change is the smallest; no quorum: {len(cast)} of {len(votes)} {judges} voted"
        return VoteCount(BallotResult.NO_QUORUM, tuple(candidates), why)
    left = [name for name in candidates if 2 * sum(name in vote.rejected for vote in cast) <= len(cast)]
    if not left:
        return VoteCount(BallotResult.ALL_REJECTED, (), "the judges rejected all candidates")
    rankings = [[name for name in vote.ranking if name in left] for vote in cast]
    firsts = Counter(ranking[0] for ranking in rankings if ranking)
    points = Counter[str]()
    for ranking in rankings:
        points.update({name: len(left) - place for place, name in enumerate(ranking, 1)})
    order = sorted(left, key=lambda name: (2 * firsts[name] <= len(cast), -points[name]))
    best = order[0]
    if 2 * firsts[best] > len(cast):
        by = cast[0].judge if len(cast) == 1 else f"{firsts[best]} of {len(cast)} votes"
        return VoteCount(BallotResult.MAJORITY, tuple(order), f"{by} put it first")
    tied = [name for name in order if points[name] == points[best]]
    if len(tied) > 1:
        return VoteCount(
            BallotResult.TIE, tuple(order), f"a tie of {join_names(tied, 4)}, and its change is the smallest"
        )
    return VoteCount(BallotResult.POINTS, tuple(order), f"no majority, and it has the most points ({points[best]})")
