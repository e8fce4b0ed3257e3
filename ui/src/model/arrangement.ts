/* Which cards are in which column, in which order. Pure.

   Law: an unchanged column keeps its identity, so that it is not rendered again. */

import type { Task } from "../api/types";
import { COLUMNS, type Column, columnOf } from "./columns";
import { sourceOf } from "./filter";

export type Arrangement = Readonly<Record<Column, readonly string[]>>;

export const GROUPINGS = ["none", "phase", "source"] as const;
export type Grouping = (typeof GROUPINGS)[number];

const emptyColumns = () =>
  Object.fromEntries(COLUMNS.map((column) => [column, []])) as unknown as Record<Column, string[]>;

export const EMPTY_ARRANGEMENT: Arrangement = emptyColumns();

/** The section of a column that a task is in; one without a phase is in the last one. */
function sectionOf(task: Task, grouping: Grouping): string {
  if (grouping === "phase") return task.phase ?? "";
  return grouping === "source" ? sourceOf(task) : "";
}

/** In the order of the sources; sections in the order in which the sources have them, too. */
export function arrange(
  tasks: Iterable<Task>,
  matches: (task: Task) => boolean,
  grouping: Grouping,
): Arrangement {
  const columns = emptyColumns();
  const sections = new Map<string, Task[]>();
  for (const task of tasks) {
    const section = sectionOf(task, grouping);
    const known = sections.get(section);
    if (known === undefined) sections.set(section, [task]);
    else known.push(task);
  }
  const last = sections.get("");
  if (last !== undefined && sections.delete("")) sections.set("", last);
  for (const members of sections.values())
    for (const task of members) if (matches(task)) columns[columnOf(task)].push(task.id);
  return columns;
}

/** Unchanged parts of `now` are replaced by the identical earlier objects. */
export function reuseUnchanged(before: Arrangement, now: Arrangement): Arrangement {
  const pairs = COLUMNS.map((column) => [column, reuseList(before[column], now[column])] as const);
  const unchanged = pairs.every(([column, ids]) => ids === before[column]);
  return unchanged ? before : (Object.fromEntries(pairs) as Record<Column, readonly string[]>);
}

function reuseList(before: readonly string[], now: readonly string[]): readonly string[] {
  const equal = before.length === now.length && before.every((id, at) => id === now[at]);
  return equal ? before : now;
}

/** A row of a column: the heading of a section, or a card. */
export type Row = { readonly heading: string } | { readonly id: string };

/** Headings wherever the section changes. */
export function columnRows(
  ids: readonly string[],
  tasks: ReadonlyMap<string, Task>,
  grouping: Grouping,
): readonly Row[] {
  if (grouping === "none") return ids.map((id) => ({ id }));
  const rows: Row[] = [];
  let section: string | null = null;
  for (const id of ids) {
    const task = tasks.get(id);
    const own: string | null = task === undefined ? section : sectionOf(task, grouping);
    if (own !== null && own !== section)
      rows.push({ heading: (grouping === "phase" && task?.phaseTitle) || own });
    section = own;
    rows.push({ id });
  }
  return rows;
}
