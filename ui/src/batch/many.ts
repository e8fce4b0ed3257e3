/* One thing asked of many tasks at once, and what became of each. */

import { api, inWords, told } from "../api/client";
import type { Task } from "../api/types";
import type { Many } from "./runnable";

export interface Outcome {
  /** As the board calls it. */
  readonly id: string;
  readonly granted: boolean;
  /** A sentence, where there is more to say. */
  readonly words: string;
}

const AT_ONCE = 1000; // tasks that one question may name
const WORDS = { granted: "granted", accepted: "noted, and no engine has answered yet" } as const;

/** Each task is asked for in the batch that the board shows it in. None fails for another's sake. */
export async function askMany(action: Many, tasks: readonly Task[]): Promise<readonly Outcome[]> {
  const batches = Map.groupBy(tasks, ({ batch }) => batch?.batchId ?? null);
  const asked = [...batches].flatMap(([batchId, some]) =>
    batchId === null ? [] : inParts(some).map((part) => askOne(action, batchId, part)),
  );
  const parts = await Promise.all(asked);
  const found = new Map(parts.flat().map((outcome) => [outcome.id, outcome]));
  return tasks.map((task) => found.get(task.id) ?? nowhere(task));
}

function inParts<T>(all: readonly T[]): readonly (readonly T[])[] {
  const starts = Array.from({ length: Math.ceil(all.length / AT_ONCE) }, (_, n) => n * AT_ONCE);
  return starts.map((start) => all.slice(start, start + AT_ONCE));
}

function nowhere({ id }: Task): Outcome {
  return { id, granted: false, words: "it is in no batch" };
}

async function askOne(action: Many, batchId: string, tasks: readonly Task[]): Promise<readonly Outcome[]> {
  const names = new Map(tasks.map(({ id, batch }) => [batch?.taskId ?? id, id]));
  try {
    const { results } = await told(
      api.POST("/api/bulk", { body: { action, batchId, taskIds: [...names.keys()] } }),
    );
    return results.map(({ taskId, result, reason }) => {
      const granted = result === "granted" || result === "accepted";
      return {
        id: names.get(taskId) ?? taskId,
        granted,
        words: granted ? WORDS[result] : (reason ?? result),
      };
    });
  } catch (error) {
    return tasks.map(({ id }) => ({ id, granted: false, words: inWords(error).message }));
  }
}
