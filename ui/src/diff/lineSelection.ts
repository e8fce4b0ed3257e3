/* The selected lines of a diff: one, or a range within a file. */

import { useCallback, useRef, useState } from "react";
import { type CommentAnchor, startComment } from "./commentDrafts";
import { type Row, type RowKey, rowLines, type Side } from "./diffRows";
import { anchorAt } from "./feedback";
import type { FileChange, Line } from "./parseDiff";

interface LineSelection {
  readonly anchor: RowKey;
  readonly at: RowKey;
  readonly side: Side;
}

/** `draft` is the key of the comments; `null`: comments aren't possible. A range is also selected by dragging. */
export function useLineSelection(rows: readonly Row[], draft: string | null, attempt: number) {
  const [selection, setSelection] = useState<LineSelection | null>(null);
  const latest = useRef({ rows, selection });
  latest.current = { rows, selection };

  const startCommentOn = useCallback(
    (what: LineSelection) => {
      const place = anchorOf(latest.current.rows, what, attempt);
      if (draft !== null && place !== null) startComment(draft, place);
    },
    [draft, attempt],
  );
  const select = useCallback(
    (key: RowKey, side: Side, extend: boolean) => {
      const next = extendSelection(latest.current.rows, latest.current.selection, key, side, extend);
      setSelection(next);
      startCommentOn(next);
    },
    [startCommentOn],
  );
  /** While the pointer is dragged from the number of one line to another one: on the same side of the same file. */
  const drag = useCallback((from: RowKey, to: RowKey, side: Side) => {
    const { rows: all } = latest.current;
    if (fileOf(all, from) === fileOf(all, to)) setSelection({ anchor: from, at: to, side });
  }, []);
  const endDrag = useCallback(() => {
    if (latest.current.selection !== null) startCommentOn(latest.current.selection);
  }, [startCommentOn]);
  /** Moves to the next selectable line and returns its row. */
  const move = useCallback((step: 1 | -1, extend: boolean, first: number): number | null => {
    const { rows: all, selection: before } = latest.current;
    const from = before === null ? first - step : all.findIndex(({ key }) => key === before.at);
    for (let i = from + step; i >= 0 && i < all.length; i += step) {
      const row = all[i] as Row;
      const lines = rowLines(row);
      const side = before !== null && lines[before.side] !== null ? before.side : lines.new ? "new" : "old";
      if (lines[side] === null) continue;
      setSelection(extendSelection(all, before, row.key, side, extend));
      return i;
    }
    return null;
  }, []);
  return { selection, select, drag, endDrag, move, startCommentOn };
}

/** The indexes of the first and last selected row. */
export function selectedRange(
  rows: readonly Row[],
  selection: LineSelection | null,
): readonly [number, number] | null {
  if (selection === null) return null;
  const a = rows.findIndex(({ key }) => key === selection.anchor);
  const b = rows.findIndex(({ key }) => key === selection.at);
  return a < 0 || b < 0 ? null : [Math.min(a, b), Math.max(a, b)];
}

function extendSelection(
  rows: readonly Row[],
  before: LineSelection | null,
  key: RowKey,
  side: Side,
  extend: boolean,
): LineSelection {
  if (!extend || before === null || fileOf(rows, before.anchor) !== fileOf(rows, key))
    return { anchor: key, at: key, side };
  return { anchor: before.anchor, at: key, side: before.side };
}

function fileOf(rows: readonly Row[], key: RowKey): FileChange | undefined {
  return rows.find((row) => row.key === key)?.file;
}

function anchorOf(rows: readonly Row[], selection: LineSelection, attempt: number): CommentAnchor | null {
  const range = selectedRange(rows, selection);
  if (range === null) return null;
  const selected = rows.slice(range[0], range[1] + 1);
  const lines = selected.flatMap((row): Line[] => {
    if (row.kind === "line") return [row.line];
    const line = row.kind === "pair" ? rowLines(row)[selection.side] : null;
    return line === null ? [] : [line];
  });
  const path = selected[0]?.file.path;
  return path === undefined ? null : anchorAt(path, lines, selection.side, attempt);
}
