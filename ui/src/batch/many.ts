/* One thing asked of many tasks at once, and what became of each. */

import { api, describeError, unwrap } from "../api/client";
import type { Task } from "../api/types";
import type { BulkAction } from "./runnable";

export interface BulkResult {
  /** As the board calls it. */
  readonly id: string;
  readonly granted: boolean;
  /** A sentence, where there is more to say. */
  readonly message: string;
}

const MAX_TASKS_PER_REQUEST = 1000; // tasks that one question may name
const RESULT_TEXT = { granted: "granted", accepted: "noted, and no engine has answered yet" } as const;

/** Each task is asked for in the batch that the board shows it in. None fails for another's sake. */
export async function runBulkAction(
  action: BulkAction,
  tasks: readonly Task[],
): Promise<readonly BulkResult[]> {
  const batches = Map.groupBy(tasks, ({ batch }) => batch?.batchId ?? null);
  const requests = [...batches].flatMap(([batchId, members]) =>
    batchId === null ? [] : chunk(members).map((part) => requestBulkAction(action, batchId, part)),
  );
  const answers = await Promise.all(requests);
  const byId = new Map(answers.flat().map((outcome) => [outcome.id, outcome]));
  return tasks.map((task) => byId.get(task.id) ?? notInBatch(task));
}

function chunk<T>(items: readonly T[]): readonly (readonly T[])[] {
  const starts = Array.from(
    { length: Math.ceil(items.length / MAX_TASKS_PER_REQUEST) },
    (_, n) => n * MAX_TASKS_PER_REQUEST,
  );
  return starts.map((start) => items.slice(start, start + MAX_TASKS_PER_REQUEST));
}

function notInBatch({ id }: Task): BulkResult {
  return { id, granted: false, message: "it is in no batch" };
}

async function requestBulkAction(
  action: BulkAction,
  batchId: string,
  tasks: readonly Task[],
): Promise<readonly BulkResult[]> {
  const names = new Map(tasks.map(({ id, batch }) => [batch?.taskId ?? id, id]));
  try {
    const { results } = await unwrap(
      api.POST("/api/bulk", { body: { action, batchId, taskIds: [...names.keys()] } }),
    );
    return results.map(({ taskId, result, reason }) => {
      const granted = result === "granted" || result === "accepted";
      return {
        id: names.get(taskId) ?? taskId,
        granted,
        message: granted ? RESULT_TEXT[result] : (reason ?? result),
      };
    });
  } catch (error) {
    return tasks.map(({ id }) => ({ id, granted: false, message: describeError(error).message }));
  }
}
