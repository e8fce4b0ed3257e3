/* URLs of the page: project, open task and tab are search parameters, the view is the path. */

import { useSearchParams } from "wouter";

export type Tab = "conversation" | "log" | "diff" | "checks" | "about";
const TABS: readonly Tab[] = ["conversation", "log", "diff", "checks", "about"];

export interface OpenTask {
  /** The task's id on the board; with `batch`, its id in that batch. */
  task: string;
  batch: string | null;
  tab: Tab;
}

export function currentProject(): string | null {
  return new URLSearchParams(window.location.search).get("project");
}

export function parseOpenTask(search: URLSearchParams): OpenTask | null {
  const task = search.get("task");
  if (task === null || task === "") return null;
  const tab = search.get("tab") as Tab | null;
  return { task, batch: search.get("batch"), tab: tab !== null && TABS.includes(tab) ? tab : "conversation" };
}

/** `search` with this task open, or with none. */
function withOpenTask(search: URLSearchParams, open: Partial<OpenTask> | null): URLSearchParams {
  const next = new URLSearchParams(search);
  for (const name of ["task", "batch", "tab"]) next.delete(name);
  if (open?.task === undefined) return next;
  next.set("task", open.task);
  if (open.batch) next.set("batch", open.batch);
  if (open.tab && open.tab !== "conversation") next.set("tab", open.tab);
  return next;
}

/** The open task and its setter; `null` closes it. */
export function useOpenTask(): [OpenTask | null, (open: Partial<OpenTask> | null) => void] {
  const [search, setSearch] = useSearchParams();
  return [parseOpenTask(search), (open) => setSearch((now) => withOpenTask(now, open))];
}

/** A URL of this page within the current project. */
export function projectUrl(path: string, search: Record<string, string> = {}): string {
  const params = new URLSearchParams(search);
  const project = currentProject();
  if (project !== null) params.set("project", project);
  const text = params.toString();
  return text === "" ? path : `${path}?${text}`;
}

export const routes = {
  board: () => projectUrl("/"),
  batches: () => projectUrl("/batches"),
  review: (batch: string) => projectUrl(`/batches/${encodeURIComponent(batch)}`),
  graph: (batch: string) => projectUrl(`/batches/${encodeURIComponent(batch)}/graph`),
  timeline: (batch: string) => projectUrl(`/batches/${encodeURIComponent(batch)}/timeline`),
  settings: () => projectUrl("/settings"),
};
