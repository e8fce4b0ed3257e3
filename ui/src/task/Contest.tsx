import type { Explanation } from "../api/types";
import { useOpenTask } from "../app/address";
import { changes, cost, duration } from "../model/format";
import { TaskBadge } from "../parts/Status";
import styles from "./About.module.css";
import { Section } from "./Facts";

type ContestShape = NonNullable<Explanation["contest"]>;

/** Several tries at the task, and which one was chosen. */
export function Contest({ contest, batchId }: { contest: ContestShape; batchId: string }) {
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
                  {each.status !== null && <TaskBadge status={each.status} />}
                  <span className={styles.soft}>{each.verdict}</span>
                </td>
                <td>{each.rank ?? "–"}</td>
                <td>{each.seconds === null ? "–" : duration(each.seconds)}</td>
                <td>{each.diffstat === null ? "–" : changes(each.diffstat)}</td>
                <td>{cost(each.cost) || "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}
