import { type RefObject, useCallback, useEffect, useState } from "react";
import type { FileChange, Line } from "./change";
import { linesOf, type Row, type Side } from "./rows";
import type { SheetHandle } from "./Sheet";

export interface Wanted {
  readonly file: FileChange;
  /** A line, or its number on a side; `null`: the head of the file. */
  readonly line: Line | { readonly side: Side; readonly n: number } | null;
}

/** Brings what is wanted into sight, and unfolds its file for it; gives the row. `goal` is the file until somebody scrolls
    by hand: the last files of a change can't be brought to the top. */
export function useShowing(
  rows: readonly Row[],
  sheet: RefObject<SheetHandle | null>,
  folded: ReadonlyMap<string, string>,
  fold: (path: string, on: boolean) => void,
) {
  const [wanted, setWanted] = useState<{ what: Wanted } | null>(null);
  const index = wanted === null ? -1 : indexOf(rows, wanted.what);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each wish, as soon as its row is there
  useEffect(() => {
    if (wanted !== null && index >= 0)
      sheet.current?.go(index, wanted.what.line === null ? "start" : "center");
  }, [wanted, index >= 0]);
  const show = useCallback(
    (what: Wanted) => {
      if (what.line !== null && folded.has(what.file.path)) fold(what.file.path, false);
      setWanted({ what });
    },
    [folded, fold],
  );
  const letGo = useCallback(() => setWanted(null), []);
  return { show, wanted: wanted?.what.line ? index : null, goal: wanted?.what.file, letGo };
}

export function indexOf(rows: readonly Row[], { file, line }: Wanted): number {
  if (line === null) return rows.findIndex((row) => row.kind === "file" && row.file.path === file.path);
  return rows.findIndex((row) => row.file.path === file.path && has(row, line));
}

function has(row: Row, line: NonNullable<Wanted["line"]>): boolean {
  if ("text" in line) {
    return row.kind === "pair"
      ? row.left === line || row.right === line
      : row.kind === "line" && row.line === line;
  }
  const there = linesOf(row)[line.side];
  return there !== null && there[line.side] === line.n;
}
