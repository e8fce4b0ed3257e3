import { LETTERS } from "./Bars";
import styles from "./Key.module.css";
import type { Chart } from "./layout";
import { NAMES } from "./words";

/** What letters and lines mean: only those that are there. */
export function Key({ chart: { rows, own } }: { chart: Chart }) {
  const bars = [...rows.flatMap((row) => row.bars), ...own];
  const gaps = rows.flatMap((row) => row.gaps);
  const kinds = Object.keys(LETTERS) as (keyof typeof LETTERS)[];
  return (
    <ul className={styles.key} aria-label="What is drawn">
      {kinds
        .filter((kind) => bars.some(({ span }) => span.kind === kind))
        .map((kind) => (
          <li key={kind}>
            <span className={styles.letter}>{LETTERS[kind]}</span> {NAMES[kind].toLowerCase()}
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
