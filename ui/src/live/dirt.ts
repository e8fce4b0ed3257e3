/* What has changed and was not asked for yet. */

import type { Touched } from "../model/board";

export interface Taken {
  readonly batches: ReadonlyMap<string, ReadonlySet<string>>;
  readonly everything: boolean;
  readonly touched: Touched;
}

const MOST_NAMED = 100; // tasks in one question
const ROOM = 12_000; // characters of an address that their names may take

/** The tasks to ask for by their names; none, which means all, where there are too many or their names are too long. */
export function named(tasks: ReadonlySet<string>): string[] {
  const all = [...tasks];
  const spelt = new TextEncoder();
  const longest = all.reduce((sum, task) => sum + "&task=".length + 3 * spelt.encode(task).length, 0);
  return all.length <= MOST_NAMED && longest <= ROOM ? all : [];
}

export class Dirt {
  private tasks = new Map<string, Set<string>>();
  private everything = false;

  get clean(): boolean {
    return !this.everything && this.tasks.size === 0;
  }

  add(touched: Touched): void {
    this.everything ||= touched.everything;
    for (const id of touched.batches) this.of(id);
    for (const [id, tasks] of touched.tasks) {
      const known = this.of(id);
      for (const task of tasks) known.add(task);
    }
  }

  take(): Taken {
    const { tasks, everything } = this;
    this.tasks = new Map();
    this.everything = false;
    return { batches: tasks, everything, touched: { tasks, batches: new Set(tasks.keys()), everything } };
  }

  private of(batchId: string): Set<string> {
    const known = this.tasks.get(batchId) ?? new Set<string>();
    this.tasks.set(batchId, known);
    return known;
  }
}
