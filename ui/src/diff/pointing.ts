/* The lines that a person points at: one, or from one to another of the same file. */

import { useCallback, useRef, useState } from "react";
import type { Line } from "./change";
import { begin, type Place } from "./comments";
import { placeAt } from "./feedback";
import { type Key, linesOf, type Row, type Side } from "./rows";

export interface Pointed {
  readonly anchor: Key;
  readonly at: Key;
  readonly side: Side;
}

/** `draft` is where comments are kept; `null`: there is nothing to comment on. */
export function usePointing(rows: readonly Row[], draft: string | null, attempt: number) {
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const latest = useRef({ rows, pointed });
  latest.current = { rows, pointed };

  const comment = useCallback(
    (what: Pointed) => {
      const place = placeOf(latest.current.rows, what, attempt);
      if (draft !== null && place !== null) begin(draft, place);
    },
    [draft, attempt],
  );
  const point = useCallback(
    (key: Key, side: Side, extend: boolean) => {
      const next = extended(latest.current.rows, latest.current.pointed, key, side, extend);
      setPointed(next);
      comment(next);
    },
    [comment],
  );
  /** To the next line that is one, and where that is. */
  const move = useCallback((step: 1 | -1, extend: boolean, first: number): number | null => {
    const { rows: all, pointed: before } = latest.current;
    const from = before === null ? first - step : all.findIndex(({ key }) => key === before.at);
    for (let i = from + step; i >= 0 && i < all.length; i += step) {
      const row = all[i] as Row;
      const lines = linesOf(row);
      const side = before !== null && lines[before.side] !== null ? before.side : lines.new ? "new" : "old";
      if (lines[side] === null) continue;
      setPointed(extended(all, before, row.key, side, extend));
      return i;
    }
    return null;
  }, []);
  return { pointed, point, move, comment };
}

/** The places of the first and the last row that are pointed at. */
export function span(rows: readonly Row[], pointed: Pointed | null): readonly [number, number] | null {
  if (pointed === null) return null;
  const a = rows.findIndex(({ key }) => key === pointed.anchor);
  const b = rows.findIndex(({ key }) => key === pointed.at);
  return a < 0 || b < 0 ? null : [Math.min(a, b), Math.max(a, b)];
}

function extended(
  rows: readonly Row[],
  before: Pointed | null,
  key: Key,
  side: Side,
  extend: boolean,
): Pointed {
  const file = (of: Key) => rows.find((row) => row.key === of)?.file;
  if (!extend || before === null || file(before.anchor) !== file(key)) return { anchor: key, at: key, side };
  return { anchor: before.anchor, at: key, side: before.side };
}

export function placeOf(rows: readonly Row[], pointed: Pointed, attempt: number): Place | null {
  const found = span(rows, pointed);
  if (found === null) return null;
  const chosen = rows.slice(found[0], found[1] + 1);
  const lines = chosen.flatMap((row): Line[] => {
    if (row.kind === "line") return [row.line];
    const line = row.kind === "pair" ? linesOf(row)[pointed.side] : null;
    return line === null ? [] : [line];
  });
  const path = chosen[0]?.file.path;
  return path === undefined ? null : placeAt(path, lines, pointed.side, attempt);
}
