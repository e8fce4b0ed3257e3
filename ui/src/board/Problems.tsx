import { pluralize } from "../model/format";
import { Icon } from "../parts/Icon";
import { useBoard } from "../store/board";
import styles from "./Problems.module.css";

const MAX_PROBLEMS = 200;

/** What is wrong with the sources: said quietly, and in full to whoever asks. */
export function SourceProblems() {
  const problems = useBoard(({ board }) => board.problems);
  const empty = useBoard(({ board }) => board.tasks.size === 0);
  // That there are no sources yet is what an empty board says itself.
  if (problems.length === 0 || (empty && problems.every(({ file }) => file === null))) return null;
  return (
    <details className={styles.problems}>
      <summary>
        <Icon name="warning" />
        {pluralize(problems.length, "problem")} in the sources
      </summary>
      <ul>
        {problems.slice(0, MAX_PROBLEMS).map((problem, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: nothing else tells two alike ones apart
          <li key={at} dir="auto">
            <span className={styles.severity}>{problem.severity}</span>{" "}
            {problem.file !== null && (
              <code>
                {problem.file}
                {problem.line !== null && `:${problem.line}`}
              </code>
            )}{" "}
            {problem.message}
            {problem.hint !== null && <span className={styles.hint}> {problem.hint}</span>}
          </li>
        ))}
      </ul>
      {problems.length > MAX_PROBLEMS && (
        <p>And {problems.length - MAX_PROBLEMS} more: plait plan tells all of them.</p>
      )}
    </details>
  );
}
