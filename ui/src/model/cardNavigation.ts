/* Keyboard navigation between cards. Pure. */

import type { Arrangement } from "./arrangement";
import { COLUMNS, type Column } from "./columns";

export type Direction = "up" | "down" | "left" | "right" | "first" | "last";

export function findColumn(shown: Arrangement, id: string): Column | undefined {
  return COLUMNS.find((column) => shown[column].includes(id));
}

export function firstCard(shown: Arrangement): string | null {
  const column = COLUMNS.find((each) => shown[each].length > 0);
  return column === undefined ? null : (shown[column][0] ?? null);
}

/** The next card in a direction; the same one at the end, the first one without a current card. */
export function nextCard(shown: Arrangement, from: string | null, direction: Direction): string | null {
  const column = from === null ? undefined : findColumn(shown, from);
  if (column === undefined || from === null) return firstCard(shown);
  const ids = shown[column];
  const at = ids.indexOf(from);
  switch (direction) {
    case "up":
      return ids[Math.max(0, at - 1)] ?? from;
    case "down":
      return ids[Math.min(ids.length - 1, at + 1)] ?? from;
    case "first":
      return ids[0] ?? from;
    case "last":
      return ids.at(-1) ?? from;
    default:
      return neighborColumnCard(shown, column, at, direction === "right" ? 1 : -1) ?? from;
  }
}

/** In the next column with cards, at the same height. */
function neighborColumnCard(shown: Arrangement, column: Column, at: number, by: 1 | -1): string | undefined {
  for (let next = COLUMNS.indexOf(column) + by; next >= 0 && next < COLUMNS.length; next += by) {
    const ids = shown[COLUMNS[next] as Column];
    if (ids.length > 0) return ids[Math.min(at, ids.length - 1)];
  }
  return undefined;
}
