import { Fragment } from "react";
import type { Explanation } from "../api/types";
import { useOpenTask } from "../app/address";
import { formatTime } from "../model/format";
import { useNow } from "../parts/now";
import styles from "./About.module.css";
import { type Attempt, attemptDuration, attemptName, describeResult } from "./attempts";
import { hasTranscript, selectAttempt } from "./chosen";
import { Section } from "./Facts";

/** Every try that was made at it, the first one first. */
export function AttemptsTable({ explanation }: { explanation: Explanation }) {
  return (
    <Section title="Attempts">
      <div className={styles.scrolls}>
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">Step</th>
              <th scope="col">Agent</th>
              <th scope="col">Started</th>
              <th scope="col">Took</th>
              <th scope="col">Result</th>
            </tr>
          </thead>
          <tbody>
            {explanation.attempts.map((attempt) => (
              <Fragment key={attemptName(attempt)}>
                <AttemptRow attempt={attempt} />
                {attempt.retriedFor !== null && (
                  <tr>
                    <td colSpan={5} className={styles.again} dir="auto">
                      Went again: {attempt.retriedFor}
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
          <span className={styles.soft} dir="auto">
            {attempt.detail}
          </span>
        )}
      </td>
    </tr>
  );
}
