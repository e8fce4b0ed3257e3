import { Fragment } from "react";
import type { Explanation } from "../api/types";
import { useOpenTask } from "../app/address";
import { clock } from "../model/format";
import { useNow } from "../parts/now";
import styles from "./About.module.css";
import { lasted, nameOf, outcome, type Try } from "./attempts";
import { choose, isPrinted } from "./chosen";
import { Section } from "./Facts";

/** Every try that was made at it, the first one first. */
export function Attempts({ explanation }: { explanation: Explanation }) {
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
            {explanation.attempts.map((made) => (
              <Fragment key={nameOf(made)}>
                <Row made={made} />
                {made.retriedFor !== null && (
                  <tr>
                    <td colSpan={5} className={styles.again} dir="auto">
                      Went again: {made.retriedFor}
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

function Row({ made }: { made: Try }) {
  const now = useNow(made.completedAt === null);
  const [open, setOpen] = useOpenTask();
  const read = () => {
    choose(made);
    if (open !== null) setOpen({ ...open, tab: "log" });
  };
  return (
    <tr>
      <td>
        {isPrinted(made) ? (
          <button
            type="button"
            className={styles.link}
            onClick={read}
            title={`Read the log of ${nameOf(made)}`}
          >
            {nameOf(made)}
          </button>
        ) : (
          nameOf(made)
        )}
      </td>
      <td>
        <bdi>{made.agent}</bdi>
      </td>
      <td>
        <time dateTime={made.startedAt}>{clock(made.startedAt, now)}</time>
      </td>
      <td>{lasted(made, now)}</td>
      <td className={styles.outcome}>
        <span
          data-passed={made.category === "ok" || undefined}
          data-open={made.completedAt === null || undefined}
        >
          {outcome(made)}
        </span>
        {made.detail && (
          <span className={styles.soft} dir="auto">
            {made.detail}
          </span>
        )}
      </td>
    </tr>
  );
}
