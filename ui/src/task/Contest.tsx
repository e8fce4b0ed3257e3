import type { Explanation } from "../api/types";
import { useOpenTask } from "../app/address";
import { formatCost, formatDiffstat, formatDuration } from "../model/format";
import { TaskStatusBadge } from "../parts/Status";
import styles from "./About.module.css";
import { Section } from "./Facts";

type ContestInfo = NonNullable<Explanation["contest"]>;

/** Several tries at the task, and which one was chosen. */
export function ContestTable({ contest, batchId }: { contest: ContestInfo; batchId: string }) {
  const [, setOpen] = useOpenTask();
  return (
    <Section title="Contest">
      {contest.why && <p dir="auto">{contest.why}</p>}
      <div className={styles.scrolls}>
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">Entrant</th>
              <th scope="col">Agent</th>
              <th scope="col">Status</th>
              <th scope="col">Rank</th>
              <th scope="col">Took</th>
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
                  <span className={styles.soft}>{each.verdict}</span>
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
    </Section>
  );
}
