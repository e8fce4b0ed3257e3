/* Fetches the board's data and merges it with events.

   Law: requests run one after another, and of events and responses the newer wins: the board never goes back. */

import { type ApiResponse, api, unwrap } from "../api/client";
import type { PlaitEvent } from "../api/types";
import { applyEvents, type Board, replaceBoard, updateBatch } from "../model/board";
import { useBoard } from "../store/board";
import { taskNamesForQuery } from "./dirtyTasks";
import { earlierCursor, ReadCursors } from "./readCursor";

const NEWEST_BATCHES = 50; // batches, and whatever older ones are open

export class BoardQueries {
  private queue: Promise<unknown> = Promise.resolve();
  private pendingEvents: PlaitEvent[] = [];
  private readonly cursors = new ReadCursors();

  constructor(private readonly signal: AbortSignal) {}

  /** What events say by themselves. */
  applyEvents(events: readonly PlaitEvent[]): void {
    this.pendingEvents.push(...events);
    const newEvents = this.cursors.filterNew(events);
    useBoard.setState(({ board }) => ({ board: applyEvents(board, newEvents) }));
  }

  /** The journal is another one, whose records have other numbers. */
  reset(): void {
    this.cursors.reset();
  }

  /** Everything. Gives the mark from which on nothing is missed. */
  async fetchAll(): Promise<string> {
    const { signal } = this;
    const query = { tasks: false, limit: NEWEST_BATCHES, open: true };
    const [, , since] = await this.enqueue(
      async () => {
        const [tasks, batches] = await Promise.all([
          unwrapWithCursor(api.GET("/api/tasks", { signal })),
          unwrapWithCursor(api.GET("/api/batches", { signal, params: { query } })),
        ]);
        this.cursors.setAll(tasks.cursor, batches.cursor);
        return [tasks.data, batches.data, earlierCursor(tasks.cursor, batches.cursor)] as const;
      },
      (board, [{ tasks, problems }, { batches }]) => replaceBoard(board, tasks, problems, batches),
    );
    if (!signal.aborted) useBoard.setState({ loaded: true, failure: null });
    return since;
  }

  /** Where these tasks of a batch stand now. */
  async fetchTasks(batchId: string, tasks: ReadonlySet<string>): Promise<void> {
    const { signal } = this;
    const params = { path: { batch_id: batchId }, query: { task: taskNamesForQuery(tasks) } };
    await this.enqueue(
      async () => {
        const { data, cursor } = await unwrapWithCursor(
          api.GET("/api/batches/{batch_id}/standing", { signal, params }),
        );
        const runs = data.tasks.map(({ taskId }) => taskId);
        this.cursors.setBatch(batchId, runs, cursor);
        return data;
      },
      (board, { batch, tasks: runs }) => updateBatch(board, batch, runs),
    );
  }

  /** What is heard meanwhile, and the answer does not know, is heard again on top of it. */
  private enqueue<T>(fetchData: () => Promise<T>, update: (board: Board, data: T) => Board): Promise<T> {
    const request = this.queue.then(async () => {
      this.pendingEvents = [];
      const data = await fetchData();
      const newEvents = this.cursors.filterNew(this.pendingEvents);
      if (!this.signal.aborted)
        useBoard.setState(({ board }) => ({ board: applyEvents(update(board, data), newEvents) }));
      return data;
    });
    this.queue = request.catch(() => undefined);
    return request;
  }
}

/** An answer, and how far it goes. */
async function unwrapWithCursor<T>(request: Promise<ApiResponse<T>>): Promise<{ data: T; cursor: string }> {
  const answer = await unwrap(request);
  return { data: answer, cursor: (await request).response.headers.get("Plait-Mark") ?? "" };
}
