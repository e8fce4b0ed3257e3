import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import type { BulkResult } from "./many";
import styles from "./RunBar.module.css";

interface Props {
  title: string;
  results: readonly BulkResult[];
  onClose(): void;
}

/** What became of each task that something was asked of: first those that were refused. */
export function BulkResults({ title, results, onClose }: Props) {
  const grantedCount = results.filter((outcome) => outcome.granted).length;
  const refusedFirst = [...results].sort((one, other) => Number(one.granted) - Number(other.granted));
  return (
    <section className={styles.outcomes} aria-label="What became of it" aria-live="polite">
      <header>
        <h2>
          {title}: {grantedCount} of {results.length} granted
        </h2>
        <Button kind="quiet" icon label="Close the results" onClick={onClose}>
          <Icon name="close" />
        </Button>
      </header>
      <ul>
        {refusedFirst.map(({ id, granted: yes, message }) => (
          <li key={id} data-granted={yes}>
            <Icon name={yes ? "check" : "warning"} />
            <span className={styles.id}>{id}</span>
            <span>{message}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
