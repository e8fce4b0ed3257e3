/* How far the fetched data goes. Events up to that record are ignored, so that the board never goes back. */

import type { PlaitEvent } from "../api/types";
import { runKey } from "../model/board";

/** The record number of a cursor; 0 if it has none. */
export function recordNumber(cursor: string | null): number {
  return Number(/^[^+:]+:(\d{1,15})$/.exec(cursor ?? "")?.[1] ?? 0);
}

/** The earlier of two cursors, so that nothing is missed. */
export function earlierCursor(one: string, other: string): string {
  return recordNumber(other) < recordNumber(one) ? other : one;
}

export class ReadCursors {
  private tasks = 0;
  private batches = 0;
  private readonly perKey = new Map<string, number>();

  /** Everything was fetched. */
  setAll(tasks: string | null, batches: string | null): void {
    this.tasks = recordNumber(tasks);
    this.batches = recordNumber(batches);
    this.perKey.clear();
  }

  /** These tasks of a batch, and the batch itself, were fetched. */
  setBatch(batchId: string, tasks: Iterable<string>, cursor: string | null): void {
    const record = recordNumber(cursor);
    this.perKey.set(batchId, record);
    for (const task of tasks) this.perKey.set(runKey(batchId, task), record);
  }

  /** Cursors of another journal are invalid: its records have other numbers. */
  reset(): void {
    this.setAll(null, null);
  }

  /** The events that are newer than the response. */
  filterNew(events: readonly PlaitEvent[]): readonly PlaitEvent[] {
    return events.filter((event) => event.seq === null || event.seq > this.readUpTo(event));
  }

  private readUpTo({ type, batchId, taskId }: PlaitEvent): number {
    if (batchId === null) return 0;
    if (taskId !== null && type.startsWith("batch:task:"))
      return Math.max(this.tasks, this.perKey.get(runKey(batchId, taskId)) ?? 0);
    return Math.max(this.batches, this.perKey.get(batchId) ?? 0);
  }
}
