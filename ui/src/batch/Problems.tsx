import type { Plan, Problem } from "../api/types";
import { Button } from "../parts/Button";
import { useRunOptions } from "./order";
import styles from "./PlanDialog.module.css";
import { hasMissingNeeds, problemHint, sortBySeverity } from "./starting";

const MAX_PROBLEMS = 20;
const SEVERITY_LABELS = { error: "Error", warning: "Warning", info: "Note" } as const;

/** What is wrong with a plan, the worst first, where it was said, and what helps. */
export function PlanProblems({ plan }: { plan: Plan }) {
  const problems = sortBySeverity(plan.problems);
  if (problems.length === 0) return null;
  return (
    <section className={styles.problems} aria-label="Problems">
      <ul>
        {problems.slice(0, MAX_PROBLEMS).map((problem) => (
          <ProblemItem key={`${problem.file}:${problem.line} ${problem.message}`} problem={problem} />
        ))}
      </ul>
      {problems.length > MAX_PROBLEMS && (
        <p className={styles.soft}>and {problems.length - MAX_PROBLEMS} more</p>
      )}
      {hasMissingNeeds(plan) && (
        <p className={styles.help}>
          <Button onClick={() => useRunOptions.setState({ needs: "with" })}>Run what they need too</Button>
          <Button onClick={() => useRunOptions.setState({ needs: "without" })}>Go without</Button>
        </p>
      )}
    </section>
  );
}

function ProblemItem({ problem }: { problem: Problem }) {
  const { severity, message, file, line } = problem;
  const hint = problemHint(problem);
  const location = file === null ? null : line === null ? file : `${file}:${line}`;
  return (
    <li className={styles.problem} data-severity={severity}>
      <span className={styles.severity}>{SEVERITY_LABELS[severity]}</span>
      <div>
        <p>{message}</p>
        {hint && <p className={styles.soft}>{hint}</p>}
        {location && <code className={styles.soft}>{location}</code>}
      </div>
    </li>
  );
}
