import type { Explanation } from "../api/types";
import { useOpenTask } from "../app/routes";
import { TaskStatusBadge } from "../components/Status";
import { formatCost, formatDiffstat, formatDuration } from "../model/format";
import styles from "./AboutTab.module.css";
import { Section } from "./Facts";

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
