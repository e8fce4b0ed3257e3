/* Where an arrow key leads on the timeline. Pure. */

import type { Row } from "./layout";

/** 0 is the name of the row's task, then come its bars. */
export interface Place {
  readonly row: number;
  readonly place: number;
}

const FAR = Number.POSITIVE_INFINITY;
const MOVES: Partial<Record<string, readonly [rows: number, places: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  PageUp: [-10, 0],
  PageDown: [10, 0],
  Home: [-FAR, -FAR],
  End: [FAR, -FAR],
};

/** `null`: this key leads nowhere. */
export function stepped(rows: readonly Pick<Row, "bars">[], at: Place, key: string): Place | null {
  const move = MOVES[key];
  if (move === undefined) return null;
  const row = Math.max(0, Math.min(rows.length - 1, at.row + move[0]));
  return { row, place: Math.max(0, Math.min(rows[row]?.bars.length ?? 0, at.place + move[1])) };
}
