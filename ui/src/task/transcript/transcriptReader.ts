/* Reads parts of a transcript from the server. */

import { ApiError, UnreachableError } from "../../api/client";
import type { ErrorBody } from "../../api/types";
import { currentProject } from "../../app/routes";
import { formatSize } from "./TranscriptRows";
import type { ByteRange, TranscriptPart, TranscriptReader } from "./transcriptPages";

export interface AttemptRef {
  readonly batchId: string;
  readonly taskId: string;
  readonly step: "write" | "verify";
  readonly attempt: number;
}

/** `pretty`: messages and activities, one per line, instead of the raw output. */
export function createReader(of: AttemptRef, pretty: boolean): TranscriptReader {
  return {
    async readPart(from, limit) {
      const response = await request("GET", logUrl(of, pretty, from, limit));
      const text = await response.text().catch(throwUnreachable);
      return { ...parseRange(response), text: pretty ? formatEntries(text) : text };
    },
    async readRange(from, limit) {
      return parseRange(await request("HEAD", logUrl(of, pretty, from, limit)));
    },
  };
}

function logUrl(of: AttemptRef, pretty: boolean, from: number, limit: number): string {
  const path = [of.batchId, "tasks", of.taskId, "log"].map(encodeURIComponent).join("/");
  const params = new URLSearchParams({
    from: String(from),
    limit: String(limit),
    attempt: String(of.attempt),
    step: of.step,
    format: pretty ? "events" : "text",
  });
  const project = currentProject();
  if (project !== null) params.set("project", project);
  return `/api/batches/${path}?${params}`;
}

async function request(method: "GET" | "HEAD", url: string): Promise<Response> {
  const response = await fetch(url, { method, credentials: "same-origin" }).catch(throwUnreachable);
  if (response.ok) return response;
  throw new ApiError(response.status, (await response.json().catch(() => ({}))) as Partial<ErrorBody>);
}

function throwUnreachable(): never {
  throw new UnreachableError();
}

function parseRange({ headers }: Response): ByteRange {
  return {
    offset: Number(headers.get("Plait-Offset")),
    next: Number(headers.get("Plait-Next")),
    ended: headers.get("Plait-Ended") === "true",
  };
}

/** The texts of events, one per line. */
function formatEntries(lines: string): TranscriptPart["text"] {
  return lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => `${entryText(line)}\n`)
    .join("");
}

function entryText(line: string): string {
  const { entry } = JSON.parse(line) as { entry?: { kind?: string; text?: string; bytes?: number } };
  if (entry?.kind === "skipped") return `${formatSize(entry.bytes ?? 0)} of a long line: see Raw`;
  return (entry?.text ?? "").replaceAll("\n", " ");
}
