/* Tasks that changed and were not fetched yet. */

import type { BoardChanges } from "../model/board";

export interface DrainedTasks {
  readonly batches: ReadonlyMap<string, ReadonlySet<string>>;
  readonly everything: boolean;
  readonly changes: BoardChanges;
}

const MAX_NAMED_TASKS = 100; // tasks in one request
const MAX_NAMES_LENGTH = 12_000; // characters of a URL that their ids may take

/** The ids to request; empty, which means all, if there are too many or the ids are too long. */
export function taskNamesForQuery(tasks: ReadonlySet<string>): string[] {
  const all = [...tasks];
  const encoder = new TextEncoder();
  const longest = all.reduce((sum, task) => sum + "&task=".length + 3 * encoder.encode(task).length, 0);
  return all.length <= MAX_NAMED_TASKS && longest <= MAX_NAMES_LENGTH ? all : [];
}

export class DirtyTasks {
  private tasks = new Map<string, Set<string>>();
  private everything = false;

  get isEmpty(): boolean {
    return !this.everything && this.tasks.size === 0;
  }

  add(changes: BoardChanges): void {
    this.everything ||= changes.everything;
    for (const id of changes.batches) this.tasksOf(id);
    for (const [id, tasks] of changes.tasks) {
      const known = this.tasksOf(id);
      for (const task of tasks) known.add(task);
    }
  }

  drain(): DrainedTasks {
    const { tasks, everything } = this;
    this.tasks = new Map();
    this.everything = false;
    return { batches: tasks, everything, changes: { tasks, batches: new Set(tasks.keys()), everything } };
  }

  private tasksOf(batchId: string): Set<string> {
    const known = this.tasks.get(batchId) ?? new Set<string>();
    this.tasks.set(batchId, known);
    return known;
  }
}
