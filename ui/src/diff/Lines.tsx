/* One line, or a pair of them side by side. Whether it was added or removed is said by its sign. */

import { memo } from "react";
import { LineText } from "./Code";
import type { FileChange, Line } from "./change";
import styles from "./Lines.module.css";
import { escapeSpecial } from "./pieces";
import type { RowKey, Side } from "./rows";

const SIGNS = { same: " ", added: "+", removed: "−" } as const;

/** `null`: nobody can comment here. `disabled` says why it can't be now. */
export interface CommentTarget {
  readonly disabled: string | null;
  select(key: RowKey, side: Side, extend: boolean): void;
}

interface LineProps {
  id: RowKey;
  file: FileChange;
  query: string;
  commentTarget: CommentTarget | null;
  /** The sides that are chosen: under the cursor, or in the range. */
  selected: Side | "both" | null;
  current: boolean;
}

export const UnifiedLine = memo(function Unified({
  line,
  counterpart,
  ...rest
}: LineProps & { line: Line; counterpart: Line | null }) {
  const side: Side = line.kind === "removed" ? "old" : "new";
  return (
    <div
      className={styles.unified}
      data-kind={line.kind}
      data-chosen={rest.selected !== null || undefined}
      data-current={rest.current || undefined}
    >
      {line.kind === "removed" ? (
        <LineNumber {...rest} n={line.old} side={side} />
      ) : (
        <span className={styles.number}>{line.old || ""}</span>
      )}
      {line.kind === "removed" ? (
        <span className={styles.number} />
      ) : (
        <LineNumber {...rest} n={line.new} side={side} />
      )}
      <Sign line={line} />
      <LineText line={line} counterpart={counterpart} query={rest.query} />
    </div>
  );
});

export const SplitLine = memo(function SideBySide({
  left,
  right,
  ...rest
}: LineProps & { left: Line | null; right: Line | null }) {
  return (
    <div className={styles.split} data-current={rest.current || undefined}>
      <SplitSide {...rest} side="old" line={left} counterpart={right} />
      <SplitSide {...rest} side="new" line={right} counterpart={left} />
    </div>
  );
});

function SplitSide({
  line,
  counterpart,
  side,
  ...rest
}: LineProps & { line: Line | null; counterpart: Line | null; side: Side }) {
  if (line === null) return <div className={styles.half} data-kind="none" />;
  const isSelected = rest.selected === side || rest.selected === "both";
  return (
    <div className={styles.half} data-kind={line.kind} data-side={side} data-chosen={isSelected || undefined}>
      <LineNumber {...rest} n={line[side]} side={side} />
      <Sign line={line} />
      <LineText line={line} counterpart={counterpart} query={rest.query} />
    </div>
  );
}

function Sign({ line }: { line: Line }) {
  return <span className={styles.sign}>{SIGNS[line.kind]}</span>;
}

/** The number of a line, by which it is commented on. By the keyboard it is chosen with j and k: so many stops would be too many. */
function LineNumber({ id, file, commentTarget, n, side }: LineProps & { n: number; side: Side }) {
  if (commentTarget === null || n === 0) return <span className={styles.number}>{n || ""}</span>;
  return (
    <button
      type="button"
      className={styles.number}
      tabIndex={-1}
      aria-label={`Comment on line ${n}${side === "old" ? " before" : ""} of ${escapeSpecial(file.path)}`}
      aria-disabled={commentTarget.disabled !== null || undefined}
      title={commentTarget.disabled ?? "Comment; with Shift, up to here"}
      onClick={(event) => commentTarget.disabled === null && commentTarget.select(id, side, event.shiftKey)}
    >
      {n}
    </button>
  );
}
