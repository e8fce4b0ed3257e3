/* Reads parts of a transcript from the server. */

import { ApiError, UnreachableError } from "../../api/client";
import type { ErrorBody } from "../../api/types";
import { currentProject } from "../../app/routes";
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
      const content = pretty ? formatEvents(text) : { text, skippedBytes: 0 };
      return { ...parseRange(response), ...content };
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

interface LogEvent {
  readonly entry?: { readonly kind?: string; readonly text?: string; readonly bytes?: number };
}

/** The texts of events, one per line, and how much of a long line they leave out. */
function formatEvents(lines: string): Pick<TranscriptPart, "text" | "skippedBytes"> {
  const entries = lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as LogEvent).entry ?? {});
  const skipped = entries.filter(({ kind }) => kind === "skipped");
  const text = entries
    .filter(({ kind }) => kind !== "skipped")
    .map((entry) => `${(entry.text ?? "").replaceAll("\n", " ")}\n`)
    .join("");
  return { text, skippedBytes: skipped.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0) };
}
