/* Fetches the board's data and merges it with events.

   Law: requests run one after another, and of events and responses the newer wins: the board never goes back. */

import { type ApiResponse, api, unwrap } from "../api/client";
import type { PlaitEvent } from "../api/types";
import { applyEvents, type Board, replaceBoard, updateBatch } from "../model/board";
import { useBoard } from "../store/board";
import { taskNamesForQuery } from "./dirtyTasks";
import { earlierCursor, ReadCursors } from "./readCursor";

const NEWEST_BATCHES = 50; // batches, besides older open ones

export class BoardQueries {
  private queue: Promise<unknown> = Promise.resolve();
  private pendingEvents: PlaitEvent[] = [];
  private readonly cursors = new ReadCursors();

  constructor(private readonly signal: AbortSignal) {}

  /** Applies events to the board. */
  applyEvents(events: readonly PlaitEvent[]): void {
    this.pendingEvents.push(...events);
    const newEvents = this.cursors.filterNew(events);
    useBoard.setState(({ board }) => ({ board: applyEvents(board, newEvents) }));
  }

  /** The journal was replaced: its records have other numbers. */
  reset(): void {
    this.cursors.reset();
  }

  /** Fetches everything; returns the cursor from which no event is missed. */
  async fetchAll(): Promise<string> {
    const { signal } = this;
    const query = { tasks: false, limit: NEWEST_BATCHES, allOpen: true };
    const [, , since] = await this.enqueue(
      async () => {
        const [tasks, batches] = await Promise.all([
          unwrapWithCursor(api.GET("/api/tasks", { signal })),
          unwrapWithCursor(api.GET("/api/batches", { signal, params: { query } })),
        ]);
        this.cursors.setAll(tasks.cursor, batches.cursor);
        return [tasks.data, batches.data, earlierCursor(tasks.cursor, batches.cursor)] as const;
      },
      (board, [{ tasks, problems }, { batches, limits }]) =>
        replaceBoard(board, tasks, problems, batches, limits),
    );
    if (!signal.aborted) useBoard.setState({ loaded: true, failure: null });
    return since;
  }

  /** Fetches the current status of these tasks of a batch. */
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

  /** Events that arrive during a request and are newer than its response are applied again on top of it. */
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

/** A response and its cursor. */
async function unwrapWithCursor<T>(request: Promise<ApiResponse<T>>): Promise<{ data: T; cursor: string }> {
  const answer = await unwrap(request);
  return { data: answer, cursor: (await request).response.headers.get("Plait-Mark") ?? "" };
}
