import type { Plan, Problem } from "../api/types";
import { Button } from "../parts/Button";
import { useOrder } from "./order";
import styles from "./PlanDialog.module.css";
import { hintOf, needsHelp, worstFirst } from "./starting";

const MOST = 20;
const WORDS = { error: "Error", warning: "Warning", info: "Note" } as const;

/** What is wrong with a plan, the worst first, where it was said, and what helps. */
export function Problems({ plan }: { plan: Plan }) {
  const problems = worstFirst(plan.problems);
  if (problems.length === 0) return null;
  return (
    <section className={styles.problems} aria-label="Problems">
      <ul>
        {problems.slice(0, MOST).map((problem) => (
          <Told key={`${problem.file}:${problem.line} ${problem.message}`} problem={problem} />
        ))}
      </ul>
      {problems.length > MOST && <p className={styles.soft}>and {problems.length - MOST} more</p>}
      {needsHelp(plan) && (
        <p className={styles.help}>
          <Button onClick={() => useOrder.setState({ needs: "with" })}>Run what they need too</Button>
          <Button onClick={() => useOrder.setState({ needs: "without" })}>Go without</Button>
        </p>
      )}
    </section>
  );
}

function Told({ problem }: { problem: Problem }) {
  const { severity, message, file, line } = problem;
  const hint = hintOf(problem);
  const place = file === null ? null : line === null ? file : `${file}:${line}`;
  return (
    <li className={styles.problem} data-severity={severity}>
      <span className={styles.severity}>{WORDS[severity]}</span>
      <div>
        <p>{message}</p>
        {hint && <p className={styles.soft}>{hint}</p>}
        {place && <code className={styles.soft}>{place}</code>}
      </div>
    </li>
  );
}
