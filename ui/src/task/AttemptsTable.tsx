import { Fragment } from "react";
import type { Explanation } from "../api/types";
import { useOpenTask } from "../app/routes";
import { useNow } from "../components/hooks";
import { TaskStatusBadge } from "../components/Status";
import { formatCost, formatDiffstat, formatDuration, formatTime } from "../model/format";
import styles from "./AboutTab.module.css";
import {
  type Attempt,
  attemptDuration,
  attemptName,
  describeResult,
  hasTranscript,
  selectAttempt,
} from "./attempts";
import { Section } from "./Facts";

/** All attempts, oldest first. */
export function AttemptsTable({ explanation }: { explanation: Explanation }) {
  return (
    <Section title="Attempts">
      <div className={styles.scrollX}>
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">Step</th>
              <th scope="col">Agent</th>
              <th scope="col">Started</th>
              <th scope="col">Duration</th>
              <th scope="col">Result</th>
            </tr>
          </thead>
          <tbody>
            {explanation.attempts.map((attempt) => (
              <Fragment key={attemptName(attempt)}>
                <AttemptRow attempt={attempt} />
                {attempt.retriedFor !== null && (
                  <tr>
                    <td colSpan={5} className={styles.retried} dir="auto">
                      Retried: {attempt.retriedFor}
                    </td>
                  </tr>
                )}
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

function AttemptRow({ attempt }: { attempt: Attempt }) {
  const now = useNow(attempt.completedAt === null);
  const [open, setOpen] = useOpenTask();
  const openLog = () => {
    selectAttempt(attempt);
    if (open !== null) setOpen({ ...open, tab: "log" });
  };
  return (
    <tr>
      <td>
        {hasTranscript(attempt) ? (
          <button
            type="button"
            className={styles.link}
            onClick={openLog}
            title={`Read the log of ${attemptName(attempt)}`}
          >
            {attemptName(attempt)}
          </button>
        ) : (
          attemptName(attempt)
        )}
      </td>
      <td>
        <bdi>{attempt.agent}</bdi>
      </td>
      <td>
        <time dateTime={attempt.startedAt}>{formatTime(attempt.startedAt, now)}</time>
      </td>
      <td>{attemptDuration(attempt, now)}</td>
      <td className={styles.outcome}>
        <span
          data-passed={attempt.category === "ok" || undefined}
          data-open={attempt.completedAt === null || undefined}
        >
          {describeResult(attempt)}
        </span>
        {attempt.detail && (
          <span className={styles.muted} dir="auto">
            {attempt.detail}
          </span>
        )}
      </td>
    </tr>
  );
}

type ContestInfo = NonNullable<Explanation["contest"]>;

/** How each judge of a contest voted. */
function VotesTable({ contest }: { contest: ContestInfo }) {
  if (contest.votes.length === 0) return null;
  return (
    <>
      <p dir="auto">{contest.summary}</p>
      <div className={styles.scrollX}>
        <table className={styles.table} aria-label="Votes">
          <thead>
            <tr>
              <th scope="col">Judge</th>
              <th scope="col">Ranking</th>
              <th scope="col">Rejected</th>
              <th scope="col">Reason</th>
            </tr>
          </thead>
          <tbody>
            {contest.votes.map((vote) => (
              <tr key={vote.judge}>
                <td>{vote.judge}</td>
                <td>{vote.failure === null ? vote.ranking.join(", ") || "–" : "No vote"}</td>
                <td>{vote.rejected.join(", ") || "–"}</td>
                <td dir="auto">{vote.failure ?? (vote.reason || "–")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** The entrants of a contest, and the winner. */
export function ContestTable({ contest, batchId }: { contest: ContestInfo; batchId: string }) {
  const [, setOpen] = useOpenTask();
  return (
    <Section title="Contest">
      {contest.why && <p dir="auto">{contest.why}</p>}
      <div className={styles.scrollX}>
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">Entrant</th>
              <th scope="col">Agent</th>
              <th scope="col">Status</th>
              <th scope="col">Rank</th>
              <th scope="col">Duration</th>
              <th scope="col">Change</th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          <tbody>
            {contest.entrants.map((each) => (
              <tr key={each.entrant}>
                <td>
                  <button
                    type="button"
                    className={styles.link}
                    onClick={() => setOpen({ task: each.entrant, batch: batchId })}
                  >
                    {each.entrant}
                  </button>
                </td>
                <td>{each.agent}</td>
                <td>
                  {each.status !== null && <TaskStatusBadge status={each.status} />}
                  <span className={styles.muted}>{each.verdict}</span>
                </td>
                <td>{each.rank ?? "–"}</td>
                <td>{each.seconds === null ? "–" : formatDuration(each.seconds)}</td>
                <td>{each.diffstat === null ? "–" : formatDiffstat(each.diffstat)}</td>
                <td>{formatCost(each.cost) || "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <VotesTable contest={contest} />
    </Section>
  );
}
