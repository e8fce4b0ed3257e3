import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import type { Outcome } from "./many";
import styles from "./RunBar.module.css";

interface Props {
  title: string;
  of: readonly Outcome[];
  onClose(): void;
}

/** What became of each task that something was asked of: first those that were refused. */
export function Outcomes({ title, of, onClose }: Props) {
  const granted = of.filter((outcome) => outcome.granted).length;
  const refusedFirst = [...of].sort((one, other) => Number(one.granted) - Number(other.granted));
  return (
    <section className={styles.outcomes} aria-label="What became of it" aria-live="polite">
      <header>
        <h2>
          {title}: {granted} of {of.length} granted
        </h2>
        <Button kind="quiet" icon label="Close the results" onClick={onClose}>
          <Icon name="close" />
        </Button>
      </header>
      <ul>
        {refusedFirst.map(({ id, granted: yes, words }) => (
          <li key={id} data-granted={yes}>
            <Icon name={yes ? "check" : "warning"} />
            <span className={styles.id}>{id}</span>
            <span>{words}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
