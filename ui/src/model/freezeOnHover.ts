/* Cards don't move under the pointer or the keyboard focus. Pure: now is passed in.

   Law: the cards of a frozen column stay in place and new ones join below. A card is in one place only. When the column is
   released, every card moves to where it belongs. */

import { type Arrangement, reuseUnchanged } from "./arrangement";
import { COLUMNS, type Column } from "./columns";

export const POINTER_IDLE_MS = 3_000; // ms: an idle pointer freezes nothing
export const KEYS_IDLE_MS = 30_000; // ms: nor does an idle focus

/** The positions of pointer and focus, and when they last moved. */
export interface Interaction {
  readonly pointer: { readonly column: Column; readonly at: number } | null;
  readonly keys: { readonly column: Column; readonly at: number } | null;
}

export const NO_INTERACTION: Interaction = { pointer: null, keys: null };

export function frozenColumns({ pointer, keys }: Interaction, now: number): ReadonlySet<Column> {
  const frozen = new Set<Column>();
  if (pointer !== null && now - pointer.at < POINTER_IDLE_MS) frozen.add(pointer.column);
  if (keys !== null && now - keys.at < KEYS_IDLE_MS) frozen.add(keys.column);
  return frozen;
}

/** When the next column is released without further activity; `null` if none is frozen. */
export function unfreezeTime({ pointer, keys }: Interaction, now: number): number | null {
  const ends = [
    pointer === null ? 0 : pointer.at + POINTER_IDLE_MS,
    keys === null ? 0 : keys.at + KEYS_IDLE_MS,
  ].filter((end) => end > now);
  return ends.length === 0 ? null : Math.min(...ends);
}

/** What to show: `shown` is the current view, `now` where everything belongs. */
export function freezeColumns(
  shown: Arrangement,
  now: Arrangement,
  frozen: ReadonlySet<Column>,
): Arrangement {
  if (frozen.size === 0) return reuseUnchanged(shown, now);
  const present = new Set(COLUMNS.flatMap((column) => now[column]));
  const frozenIds = new Map<Column, readonly string[]>();
  const kept = new Set<string>();
  for (const column of frozen) {
    const ids = shown[column].filter((id) => present.has(id) && !kept.has(id));
    for (const id of ids) kept.add(id);
    frozenIds.set(column, ids);
  }
  const free = (column: Column) => now[column].filter((id) => !kept.has(id));
  const next = COLUMNS.map(
    (column) => [column, [...(frozenIds.get(column) ?? []), ...free(column)]] as const,
  );
  return reuseUnchanged(shown, Object.fromEntries(next) as Record<Column, readonly string[]>);
}

/**
 * Empty columns are narrow. While something is frozen, no column changes its width: that would move the
 * others.
 */
export function collapseEmpty(
  before: ReadonlySet<Column> | null,
  shown: Arrangement,
  frozen: ReadonlySet<Column>,
): ReadonlySet<Column> {
  if (before !== null && frozen.size > 0) return before;
  const empty = COLUMNS.filter((column) => shown[column].length === 0);
  const unchanged =
    before !== null && empty.length === before.size && empty.every((each) => before.has(each));
  return unchanged ? before : new Set(empty);
}
