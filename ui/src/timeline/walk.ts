/* Where an arrow key leads on the timeline. Pure. */

import type { Row } from "./layout";

/** 0 is the name of the row's task, then come its bars. */
export interface Position {
  readonly row: number;
  readonly place: number;
}

const UNBOUNDED = Number.POSITIVE_INFINITY;
const KEY_MOVES: Partial<Record<string, readonly [rows: number, places: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  PageUp: [-10, 0],
  PageDown: [10, 0],
  Home: [-UNBOUNDED, -UNBOUNDED],
  End: [UNBOUNDED, -UNBOUNDED],
};

/** `null`: this key leads nowhere. */
export function nextPosition(rows: readonly Pick<Row, "bars">[], at: Position, key: string): Position | null {
  const move = KEY_MOVES[key];
  if (move === undefined) return null;
  const row = Math.max(0, Math.min(rows.length - 1, at.row + move[0]));
  return { row, place: Math.max(0, Math.min(rows[row]?.bars.length ?? 0, at.place + move[1])) };
}
