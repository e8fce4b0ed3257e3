import { type RefObject, useCallback, useEffect, useState } from "react";
import type { FileChange, Line } from "./change";
import { type Row, rowLines, type Side } from "./rows";
import type { RowListHandle } from "./Sheet";

export interface ScrollTarget {
  readonly file: FileChange;
  /** A line, or its number on a side; `null`: the head of the file. */
  readonly line: Line | { readonly side: Side; readonly n: number } | null;
}

/** Brings what is wanted into sight, and unfolds its file for it; gives the row. `goal` is the file until somebody scrolls
    by hand: the last files of a change can't be brought to the top. */
export function useScrollTarget(
  rows: readonly Row[],
  sheet: RefObject<RowListHandle | null>,
  folded: ReadonlyMap<string, string>,
  fold: (path: string, on: boolean) => void,
) {
  const [target, setTarget] = useState<{ location: ScrollTarget } | null>(null);
  const index = target === null ? -1 : findRow(rows, target.location);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each wish, as soon as its row is there
  useEffect(() => {
    if (target !== null && index >= 0)
      sheet.current?.scrollTo(index, target.location.line === null ? "start" : "center");
  }, [target, index >= 0]);
  const scrollTo = useCallback(
    (location: ScrollTarget) => {
      if (location.line !== null && folded.has(location.file.path)) fold(location.file.path, false);
      setTarget({ location });
    },
    [folded, fold],
  );
  const clearTarget = useCallback(() => setTarget(null), []);
  return {
    scrollTo,
    target: target?.location.line ? index : null,
    targetFile: target?.location.file,
    clearTarget,
  };
}

export function findRow(rows: readonly Row[], { file, line }: ScrollTarget): number {
  if (line === null) return rows.findIndex((row) => row.kind === "file" && row.file.path === file.path);
  return rows.findIndex((row) => row.file.path === file.path && rowHasLine(row, line));
}

function rowHasLine(row: Row, line: NonNullable<ScrollTarget["line"]>): boolean {
  if ("text" in line) {
    return row.kind === "pair"
      ? row.left === line || row.right === line
      : row.kind === "line" && row.line === line;
  }
  const shown = rowLines(row)[line.side];
  return shown !== null && shown[line.side] === line.n;
}
