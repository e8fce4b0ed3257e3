/* What was changed, as the server tells it: the list of files, and the text as far as it has come. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, told } from "../api/client";
import type { Diff } from "../api/types";

const FARTHEST = 64 << 20; // bytes of text that a page can bear
const AT_WORK = 15_000; // ms between two looks at files that are being written

export interface Asked {
  readonly batchId: string;
  readonly taskId: string | null;
  readonly attempt: number | null;
}

/** `mark`: what it depends on; `null`: there is nothing to ask for. */
export function useDiff({ batchId, taskId, attempt }: Asked, mark: string | null) {
  return useQuery({
    queryKey: ["diff", batchId, taskId, attempt, mark],
    queryFn: () => read({ batchId, taskId, attempt }),
    enabled: mark !== null,
    placeholderData: (before, query) =>
      query?.queryKey[1] === batchId && query.queryKey[2] === taskId ? before : undefined,
    refetchInterval: ({ state }) => (state.data?.tip === null ? AT_WORK : false),
  });
}

/** The text of a change, and how the rest of it is had where it was cut. */
export function useText(
  asked: Asked,
  diff: Diff,
): { text: string; cut: boolean; busy: boolean; more(): Promise<void> } {
  const [rest, setRest] = useState<{ of: Diff; text: string; cut: boolean } | null>(null);
  const [busy, setBusy] = useState(false);
  const mine = rest?.of === diff ? rest : null;
  const more = async () => {
    setBusy(true);
    try {
      setRest({ of: diff, ...(await remaining(asked, diff.diff)) });
    } finally {
      setBusy(false);
    }
  };
  return { text: mine?.text ?? diff.diff, cut: mine?.cut ?? diff.cut, busy, more };
}

async function read(asked: Asked): Promise<Diff> {
  return (await told(ask(asked, 0, "json"))) as Diff;
}

/** From where the text ends; where bytes were no text, nobody knows where that is, and it comes from the beginning. */
async function remaining(asked: Asked, known: string): Promise<{ text: string; cut: boolean }> {
  const anew = known.includes("\ufffd");
  const from = anew ? 0 : new TextEncoder().encode(known).length;
  const stream = (await told(ask(asked, from, "text", "stream"))) as unknown as ReadableStream<Uint8Array>;
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  const parts = anew ? [] : [known];
  for (let bytes = from; ; ) {
    const { done, value } = await reader.read();
    if (done) return { text: parts.join("") + decoder.decode(), cut: false };
    parts.push(decoder.decode(value, { stream: true }));
    bytes += value.length;
    if (bytes < FARTHEST) continue;
    await reader.cancel();
    return { text: parts.join(""), cut: true };
  }
}

function ask(
  { batchId, taskId, attempt }: Asked,
  from: number,
  format: "json" | "text",
  parseAs: "json" | "stream" = "json",
) {
  const query = { from, format };
  if (taskId === null)
    return api.GET("/api/batches/{batch_id}/diff", {
      params: { path: { batch_id: batchId }, query },
      parseAs,
    });
  return api.GET("/api/batches/{batch_id}/tasks/{task_id}/diff", {
    params: { path: { batch_id: batchId, task_id: taskId }, query: { ...query, attempt } },
    parseAs,
  });
}
