/* Which tasks are looked at: words that are searched for, and what they are narrowed to. Pure.

   Law: of one kind, any of the values will do; of several kinds, each must be met; of the words, all must be found. */

import type { Task } from "../api/types";

export const KINDS = ["status", "agent", "phase", "source", "batch"] as const;
export type Kind = (typeof KINDS)[number];

export const KIND_NAMES: Record<Kind, string> = {
  status: "Status",
  agent: "Agent",
  phase: "Phase",
  source: "Source",
  batch: "Batch",
};

export interface Filter {
  readonly words: string;
  readonly only: Readonly<Record<Kind, readonly string[]>>;
}

export const NO_FILTER: Filter = {
  words: "",
  only: { status: [], agent: [], phase: [], source: [], batch: [] },
};

/** Formats that have a file for each task: what these have in common is their folder. */
const ONE_TASK_EACH: ReadonlySet<string> = new Set(["folder", "jobs", "backlog", "ccpm"]);

/** `tasks/01-walls.md`, without the line. */
export function fileOf({ source }: Pick<Task, "source">): string {
  return (source ?? "").replace(/:\d+(:\d+)?$/, "");
}

/** The folder or the file that a task was read from. */
export function sourceOf(task: Pick<Task, "source" | "format">): string {
  const file = fileOf(task);
  if (!ONE_TASK_EACH.has(task.format)) return file;
  const end = file.lastIndexOf("/");
  return end < 0 ? file : file.slice(0, end);
}

export function agentOf(task: Task): string {
  return task.batch?.agent ?? task.agent ?? "";
}

/** What it is called where it stands: in its batch, or else in its source. */
export function valueIn(task: Task, kind: Kind): string {
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

const texts = new WeakMap<Task, string>();

/** Everything of a task that words are looked for in. A task that did not change is not spelt out twice. */
function textOf(task: Task): string {
  const known = texts.get(task);
  if (known !== undefined) return known;
  const said = [task.id, task.title, task.source, task.phase, agentOf(task), task.batch?.reason];
  const text = said.filter(Boolean).join("\n").toLowerCase();
  texts.set(task, text);
  return text;
}

/** Made once for a filter, asked for each task. */
export function matcher({ words, only }: Filter): (task: Task) => boolean {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const narrowed = KINDS.filter((kind) => only[kind].length > 0);
  if (wanted.length === 0 && narrowed.length === 0) return () => true;
  return (task) =>
    narrowed.every((kind) => only[kind].includes(valueIn(task, kind))) &&
    (wanted.length === 0 || wanted.every((word) => textOf(task).includes(word)));
}

export function isNarrow({ words, only }: Filter): boolean {
  return words.trim() !== "" || KINDS.some((kind) => only[kind].length > 0);
}

/** With this value if it was without, and without it if it was with. */
export function toggled(filter: Filter, kind: Kind, value: string): Filter {
  const values = filter.only[kind];
  const next = values.includes(value) ? values.filter((each) => each !== value) : [...values, value];
  return { ...filter, only: { ...filter.only, [kind]: next } };
}

/** What there is to choose from, with how many tasks have it; what is chosen already stays, with none. */
export function choices(
  tasks: Iterable<Task>,
  kind: Kind,
  chosen: readonly string[],
): ReadonlyMap<string, number> {
  const found = new Map<string, number>(chosen.map((value) => [value, 0]));
  for (const task of tasks) {
    const value = valueIn(task, kind);
    if (value !== "") found.set(value, (found.get(value) ?? 0) + 1);
  }
  return kind === "phase" || kind === "batch" ? found : new Map([...found].sort());
}

/** The names in the address; `batch` is the open task's there. */
const NAMES: Record<Kind, string> = {
  status: "status",
  agent: "agent",
  phase: "phase",
  source: "source",
  batch: "in",
};

export function filterIn(search: URLSearchParams): Filter {
  const of = (kind: Kind) => [...new Set(search.getAll(NAMES[kind]).filter(Boolean))];
  return {
    words: search.get("q") ?? "",
    only: {
      status: of("status"),
      agent: of("agent"),
      phase: of("phase"),
      source: of("source"),
      batch: of("batch"),
    },
  };
}

/** `search` with this filter, and all else as it was. */
export function withFilter(search: URLSearchParams, { words, only }: Filter): URLSearchParams {
  const next = new URLSearchParams(search);
  next.delete("q");
  if (words.trim() !== "") next.set("q", words);
  for (const kind of KINDS) {
    next.delete(NAMES[kind]);
    for (const value of only[kind]) next.append(NAMES[kind], value);
  }
  return next;
}
