/* Loads a diff: the list of files, and the text as far as it was sent. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, unwrap } from "../api/client";
import type { Diff } from "../api/types";
import type { Side } from "./diffRows";
import { type FileText, splitText } from "./hiddenLines";
import type { FileChange } from "./parseDiff";

const MAX_TEXT_BYTES = 64 << 20; // bytes of text that the page can handle
const POLL_MS = 15_000; // ms between two requests while files are being written

export interface DiffTarget {
  readonly batchId: string;
  readonly taskId: string | null;
  readonly attempt: number | null;
  /** Only what is different from this earlier attempt. */
  readonly since: number | null;
  /** What a person made of its nth conflict, in place of an attempt. */
  readonly resolution: number | null;
}

/** `mark`: the version to load; `null`: there is nothing to load. */
export function useDiff(target: DiffTarget, version: string | null) {
  const { batchId, taskId, attempt, since, resolution } = target;
  return useQuery({
    queryKey: ["diff", batchId, taskId, attempt, since, resolution, version],
    queryFn: () => fetchDiff(target),
    enabled: version !== null,
    placeholderData: (before, query) =>
      query?.queryKey[1] === batchId && query.queryKey[2] === taskId ? before : undefined,
    refetchInterval: ({ state }) => (state.data?.tip === null ? POLL_MS : false),
  });
}

/** The text of a diff, and a function that loads the rest if it was cut. */
export function useDiffText(
  target: DiffTarget,
  diff: Diff,
): { text: string; truncated: boolean; busy: boolean; loadMore(): Promise<void> } {
  const [rest, setRest] = useState<{ of: Diff; text: string; truncated: boolean } | null>(null);
  const [busy, setBusy] = useState(false);
  const own = rest?.of === diff ? rest : null;
  const loadMore = async () => {
    setBusy(true);
    try {
      setRest({ of: diff, ...(await fetchRemaining(target, diff.diff)) });
    } finally {
      setBusy(false);
    }
  };
  return { text: own?.text ?? diff.diff, truncated: own?.truncated ?? diff.cut, busy, loadMore };
}

async function fetchDiff(target: DiffTarget): Promise<Diff> {
  return (await unwrap(requestDiff(target, 0, "json"))) as Diff;
}

/** Continues where the text ends; if it had invalid bytes, that offset is unknown, and it starts over. */
async function fetchRemaining(
  target: DiffTarget,
  loaded: string,
): Promise<{ text: string; truncated: boolean }> {
  const restart = loaded.includes("\ufffd");
  const from = restart ? 0 : new TextEncoder().encode(loaded).length;
  const stream = (await unwrap(
    requestDiff(target, from, "text", "stream"),
  )) as unknown as ReadableStream<Uint8Array>;
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  const parts = restart ? [] : [loaded];
  for (let bytes = from; ; ) {
    const { done, value } = await reader.read();
    if (done) return { text: parts.join("") + decoder.decode(), truncated: false };
    parts.push(decoder.decode(value, { stream: true }));
    bytes += value.length;
    if (bytes < MAX_TEXT_BYTES) continue;
    await reader.cancel();
    return { text: parts.join(""), truncated: true };
  }
}

function requestDiff(
  { batchId, taskId, attempt, since, resolution }: DiffTarget,
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
    params: { path: { batch_id: batchId, task_id: taskId }, query: { ...query, attempt, since, resolution } },
    parseAs,
  });
}

/** The whole text after the change. Refused (409) if the file has changed since the diff was loaded. */
export async function fetchFileText(target: DiffTarget, file: FileChange): Promise<FileText> {
  return splitText((await unwrap(requestFile(target, file, "new", "text"))) as string);
}

export async function fetchImage(target: DiffTarget, file: FileChange, side: Side): Promise<Blob> {
  return (await unwrap(requestFile(target, file, side, "image"))) as unknown as Blob;
}

function requestFile(
  { batchId, taskId, attempt, since, resolution }: DiffTarget,
  { path, before, blobs }: FileChange,
  side: Side,
  format: "text" | "image",
) {
  const [old = "", now = ""] = blobs?.split("..") ?? [];
  const query =
    side === "old" ? { path: before ?? path, side, blob: old, format } : { path, side, blob: now, format };
  const parseAs = format === "text" ? "text" : "blob";
  if (taskId === null)
    return api.GET("/api/batches/{batch_id}/diff/file", {
      params: { path: { batch_id: batchId }, query },
      parseAs,
    });
  return api.GET("/api/batches/{batch_id}/tasks/{task_id}/diff/file", {
    params: { path: { batch_id: batchId, task_id: taskId }, query: { ...query, attempt, since, resolution } },
    parseAs,
  });
}
