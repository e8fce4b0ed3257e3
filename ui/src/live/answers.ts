/* How far answers go. An event that an answer has told already is not heard on top of it: the board would go back. */

import type { PlaitEvent } from "../api/types";
import { runKey } from "../model/board";

/** The record up to which a mark tells everything; 0 where it does not say. */
export function reach(mark: string | null): number {
  return Number(/^[^+:]+:(\d{1,15})$/.exec(mark ?? "")?.[1] ?? 0);
}

/** The one from which nothing is missed of either. */
export function earlier(one: string, other: string): string {
  return reach(other) < reach(one) ? other : one;
}

export class Answers {
  private tasks = 0;
  private heads = 0;
  private readonly some = new Map<string, number>();

  /** Everything was read. */
  all(tasks: string | null, heads: string | null): void {
    this.tasks = reach(tasks);
    this.heads = reach(heads);
    this.some.clear();
  }

  /** Where these tasks of a batch stand, and the batch itself. */
  part(batchId: string, tasks: Iterable<string>, mark: string | null): void {
    const to = reach(mark);
    this.some.set(batchId, to);
    for (const task of tasks) this.some.set(runKey(batchId, task), to);
  }

  /** They were of another journal, whose records have other numbers. */
  forget(): void {
    this.all(null, null);
  }

  /** Those that say more than was answered. */
  news(events: readonly PlaitEvent[]): readonly PlaitEvent[] {
    return events.filter((event) => event.seq === null || event.seq > this.told(event));
  }

  private told({ type, batchId, taskId }: PlaitEvent): number {
    if (batchId === null) return 0;
    if (taskId !== null && type.startsWith("batch:task:"))
      return Math.max(this.tasks, this.some.get(runKey(batchId, taskId)) ?? 0);
    return Math.max(this.heads, this.some.get(batchId) ?? 0);
  }
}
