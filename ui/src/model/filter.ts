/* The search and the filters of the board. Pure.

   Law: values of one kind are alternatives, all kinds must match, and all words must be found. */

import type { Task } from "../api/types";

export const FILTER_KINDS = ["status", "agent", "phase", "source", "batch"] as const;
export type FilterKind = (typeof FILTER_KINDS)[number];

export const FILTER_KIND_NAMES: Record<FilterKind, string> = {
  status: "Status",
  agent: "Agent",
  phase: "Phase",
  source: "Source",
  batch: "Batch",
};

export interface Filter {
  readonly query: string;
  readonly only: Readonly<Record<FilterKind, readonly string[]>>;
}

export const NO_FILTER: Filter = {
  query: "",
  only: { status: [], agent: [], phase: [], source: [], batch: [] },
};

/** Formats with one file per task: they are grouped by folder. */
const FILE_PER_TASK: ReadonlySet<string> = new Set(["folder", "jobs", "backlog", "ccpm"]);

/** `tasks/01-walls.md`, without the line. */
export function fileOf({ source }: Pick<Task, "source">): string {
  return (source ?? "").replace(/:\d+(:\d+)?$/, "");
}

/** The folder or the file that a task was read from. */
export function sourceOf(task: Pick<Task, "source" | "format">): string {
  const file = fileOf(task);
  if (!FILE_PER_TASK.has(task.format)) return file;
  const end = file.lastIndexOf("/");
  return end < 0 ? file : file.slice(0, end);
}

export function agentOf(task: Task): string {
  return task.batch?.agent ?? task.agent ?? "";
}

/** Its status in its batch, else in its source. */
function filterValue(task: Task, kind: FilterKind): string {
  switch (kind) {
    case "status":
      return task.batch?.status ?? task.status;
    case "agent":
      return agentOf(task);
    case "phase":
      return task.phase ?? "";
    case "source":
      return sourceOf(task);
    case "batch":
      return task.batch?.batchId ?? "";
  }
}

const searchTexts = new WeakMap<Task, string>();

/** The searchable text of a task, cached per task object. */
function searchText(task: Task): string {
  const known = searchTexts.get(task);
  if (known !== undefined) return known;
  const { id, title, source, phase, phaseTitle, batch } = task;
  const parts = [id, title, source, phase, phaseTitle, agentOf(task), batch?.reason];
  const text = parts.filter(Boolean).join("\n").toLowerCase();
  searchTexts.set(task, text);
  return text;
}

/** A predicate for a filter, built once and used for every task. */
export function createMatcher({ query, only }: Filter): (task: Task) => boolean {
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
  const narrowed = FILTER_KINDS.filter((kind) => only[kind].length > 0);
  if (wanted.length === 0 && narrowed.length === 0) return () => true;
  return (task) =>
    narrowed.every((kind) => only[kind].includes(filterValue(task, kind))) &&
    (wanted.length === 0 || wanted.every((word) => searchText(task).includes(word)));
}

export function isFiltering({ query, only }: Filter): boolean {
  return query.trim() !== "" || FILTER_KINDS.some((kind) => only[kind].length > 0);
}

/** Toggles a value. */
export function toggleFilter(filter: Filter, kind: FilterKind, value: string): Filter {
  const values = filter.only[kind];
  const next = values.includes(value) ? values.filter((each) => each !== value) : [...values, value];
  return { ...filter, only: { ...filter.only, [kind]: next } };
}

/** The available values with the number of tasks; selected values stay, even with 0. */
export function filterOptions(
  tasks: Iterable<Task>,
  kind: FilterKind,
  selected: readonly string[],
): ReadonlyMap<string, number> {
  const found = new Map<string, number>(selected.map((value) => [value, 0]));
  for (const task of tasks) {
    const value = filterValue(task, kind);
    if (value !== "") found.set(value, (found.get(value) ?? 0) + 1);
  }
  return kind === "phase" || kind === "batch" ? found : new Map([...found].sort());
}

/** The parameter names in the URL; `batch` there belongs to the open task. */
const URL_PARAMS: Record<FilterKind, string> = {
  status: "status",
  agent: "agent",
  phase: "phase",
  source: "source",
  batch: "in",
};

export function parseFilter(search: URLSearchParams): Filter {
  const of = (kind: FilterKind) => [...new Set(search.getAll(URL_PARAMS[kind]).filter(Boolean))];
  return {
    query: search.get("q") ?? "",
    only: {
      status: of("status"),
      agent: of("agent"),
      phase: of("phase"),
      source: of("source"),
      batch: of("batch"),
    },
  };
}

/** `search` with this filter; other parameters stay. */
export function withFilter(search: URLSearchParams, { query, only }: Filter): URLSearchParams {
  const next = new URLSearchParams(search);
  next.delete("q");
  if (query.trim() !== "") next.set("q", query);
  for (const kind of FILTER_KINDS) {
    next.delete(URL_PARAMS[kind]);
    for (const value of only[kind]) next.append(URL_PARAMS[kind], value);
  }
  return next;
}
