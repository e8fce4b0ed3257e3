/* What has changed and was not asked for yet. */

import type { Touched } from "../model/board";

export interface Taken {
  readonly batches: ReadonlyMap<string, ReadonlySet<string>>;
  readonly everything: boolean;
  readonly touched: Touched;
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
