import { KIND_LETTERS } from "./Bars";
import styles from "./Key.module.css";
import type { Chart } from "./layout";
import { KIND_NAMES } from "./words";

/** What letters and lines mean: only those that are there. */
export function TimelineLegend({ chart: { rows, batchBars } }: { chart: Chart }) {
  const bars = [...rows.flatMap((row) => row.bars), ...batchBars];
  const gaps = rows.flatMap((row) => row.gaps);
  const kinds = Object.keys(KIND_LETTERS) as (keyof typeof KIND_LETTERS)[];
  return (
    <ul className={styles.key} aria-label="What is drawn">
      {kinds
        .filter((kind) => bars.some(({ span }) => span.kind === kind))
        .map((kind) => (
          <li key={kind}>
            <span className={styles.letter}>{KIND_LETTERS[kind]}</span> {KIND_NAMES[kind].toLowerCase()}
          </li>
        ))}
      {bars.some((bar) => bar.retry !== null) && (
        <li>
          <span className={styles.letter}>✕</span> went wrong
        </li>
      )}
      {gaps.some(({ backoff }) => backoff === null) && (
        <li>
          <span className={styles.wait} /> waiting
        </li>
      )}
      {gaps.some(({ backoff }) => backoff !== null) && (
        <li>
          <span className={styles.backoff} /> held back
        </li>
      )}
    </ul>
  );
}
