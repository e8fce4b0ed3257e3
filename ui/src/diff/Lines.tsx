/* One line, or a pair of them side by side. Whether it was added or removed is said by its sign. */

import { memo } from "react";
import { Code } from "./Code";
import type { FileChange, Line } from "./change";
import styles from "./Lines.module.css";
import { plain } from "./pieces";
import type { Key, Side } from "./rows";

const SIGNS = { same: " ", added: "+", removed: "−" } as const;

/** `null`: nobody can comment here. `disabled` says why it can't be now. */
export interface Commenting {
  readonly disabled: string | null;
  point(key: Key, side: Side, extend: boolean): void;
}

interface Common {
  id: Key;
  file: FileChange;
  words: string;
  commenting: Commenting | null;
  /** The sides that are chosen: under the cursor, or in the range. */
  chosen: Side | "both" | null;
  current: boolean;
}

export const Unified = memo(function Unified({
  line,
  mate,
  ...rest
}: Common & { line: Line; mate: Line | null }) {
  const side: Side = line.kind === "removed" ? "old" : "new";
  return (
    <div
      className={styles.unified}
      data-kind={line.kind}
      data-chosen={rest.chosen !== null || undefined}
      data-current={rest.current || undefined}
    >
      {line.kind === "removed" ? (
        <Numbered {...rest} n={line.old} side={side} />
      ) : (
        <span className={styles.number}>{line.old || ""}</span>
      )}
      {line.kind === "removed" ? (
        <span className={styles.number} />
      ) : (
        <Numbered {...rest} n={line.new} side={side} />
      )}
      <Sign line={line} />
      <Code line={line} mate={mate} words={rest.words} />
    </div>
  );
});

export const SideBySide = memo(function SideBySide({
  left,
  right,
  ...rest
}: Common & { left: Line | null; right: Line | null }) {
  return (
    <div className={styles.split} data-current={rest.current || undefined}>
      <Half {...rest} side="old" line={left} mate={right} />
      <Half {...rest} side="new" line={right} mate={left} />
    </div>
  );
});

function Half({ line, mate, side, ...rest }: Common & { line: Line | null; mate: Line | null; side: Side }) {
  if (line === null) return <div className={styles.half} data-kind="none" />;
  const chosen = rest.chosen === side || rest.chosen === "both";
  return (
    <div className={styles.half} data-kind={line.kind} data-side={side} data-chosen={chosen || undefined}>
      <Numbered {...rest} n={line[side]} side={side} />
      <Sign line={line} />
      <Code line={line} mate={mate} words={rest.words} />
    </div>
  );
}

function Sign({ line }: { line: Line }) {
  return <span className={styles.sign}>{SIGNS[line.kind]}</span>;
}

/** The number of a line, by which it is commented on. By the keyboard it is chosen with j and k: so many stops would be too many. */
function Numbered({ id, file, commenting, n, side }: Common & { n: number; side: Side }) {
  if (commenting === null || n === 0) return <span className={styles.number}>{n || ""}</span>;
  return (
    <button
      type="button"
      className={styles.number}
      tabIndex={-1}
      aria-label={`Comment on line ${n}${side === "old" ? " before" : ""} of ${plain(file.path)}`}
      aria-disabled={commenting.disabled !== null || undefined}
      title={commenting.disabled ?? "Comment; with Shift, up to here"}
      onClick={(event) => commenting.disabled === null && commenting.point(id, side, event.shiftKey)}
    >
      {n}
    </button>
  );
}
