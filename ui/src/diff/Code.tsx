import { memo } from "react";
import styles from "./Code.module.css";
import type { Line } from "./change";
import { findRanges } from "./find";
import { MAX_LINE_LENGTH, segmentLine } from "./pieces";
import { diffWords } from "./words";

const NO_RANGES: never[] = [];

interface Props {
  line: Line;
  /** The line that it is compared with. */
  counterpart: Line | null;
  /** What somebody looks for. */
  query: string;
}

/** The text of a line. Whatever it holds, it is text. */
export const LineText = memo(function Code({ line, counterpart, query }: Props) {
  const changed =
    counterpart === null || line.kind === "same"
      ? NO_RANGES
      : line.kind === "removed"
        ? diffWords(line.text, counterpart.text).old
        : diffWords(counterpart.text, line.text).new;
  const matched = query === "" ? NO_RANGES : findRanges(line.text, query);
  return (
    <span className={styles.code}>
      {segmentLine(line.text, changed, matched).map((segment, index) =>
        segment.changed || segment.matched || segment.special ? (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name, and never move
            key={index}
            className={styles.piece}
            data-marked={segment.changed || undefined}
            data-found={segment.matched || undefined}
            data-odd={segment.special || undefined}
          >
            {segment.text}
          </span>
        ) : (
          segment.text
        ),
      )}
      {line.text.length > MAX_LINE_LENGTH && (
        <span className={styles.aside}>
          {" "}
          … {(line.text.length - MAX_LINE_LENGTH).toLocaleString("en")} more letters
        </span>
      )}
      {line.endsWithCr && line.kind !== "same" && (
        <span className={styles.aside} title="This line ends with a carriage return">
          ␍
        </span>
      )}
      {line.noNewline && <span className={styles.aside}> no newline at the end</span>}
    </span>
  );
});
