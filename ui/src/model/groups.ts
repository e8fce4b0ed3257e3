/* Groups: tasks that are not run themselves and are done when their parts are. Pure. */

import type { Task } from "../api/types";
import { columnOf } from "./columns";

export function isGroup(task: Pick<Task, "parts">): boolean {
  return task.parts.length > 0;
}

/** The tasks of a group, including those of nested groups. */
export function groupMembers(tasks: ReadonlyMap<string, Task>, id: string): readonly string[] {
  const found = new Set<string>();
  const seen = new Set<string>();
  const visit = (each: string) => {
    const task = tasks.get(each);
    if (task === undefined || seen.has(each)) return;
    seen.add(each);
    if (isGroup(task)) task.parts.forEach(visit);
    else found.add(each);
  };
  visit(id);
  return [...found];
}

/** How many of its members are done, as `2/5`. */
export function groupProgress(tasks: ReadonlyMap<string, Task>, id: string): string {
  const ids = groupMembers(tasks, id);
  const done = ids.filter((each) => {
    const task = tasks.get(each);
    return task !== undefined && ["done", "review"].includes(columnOf(task));
  });
  return `${done.length}/${ids.length}`;
}
