/* Asking the server for parts of a transcript. */

import { Refused, Unreachable } from "../../api/client";
import type { ErrorShape } from "../../api/types";
import { projectInAddress } from "../../app/address";
import type { Part, Place, Reads } from "./pages";

export interface Attempt {
  readonly batchId: string;
  readonly taskId: string;
  readonly step: "write" | "verify";
  readonly attempt: number;
}

/** `pretty`: what it said and did, a line each, instead of what it printed. */
export function readsOf(of: Attempt, pretty: boolean): Reads {
  return {
    async part(from, limit) {
      const answer = await ask("GET", address(of, pretty, from, limit));
      const text = await answer.text().catch(gone);
      return { ...placeOf(answer), text: pretty ? said(text) : text };
    },
    async place(from, limit) {
      return placeOf(await ask("HEAD", address(of, pretty, from, limit)));
    },
  };
}

function address(of: Attempt, pretty: boolean, from: number, limit: number): string {
  const path = [of.batchId, "tasks", of.taskId, "log"].map(encodeURIComponent).join("/");
  const asked = new URLSearchParams({
    from: String(from),
    limit: String(limit),
    attempt: String(of.attempt),
    step: of.step,
    format: pretty ? "events" : "text",
  });
  const project = projectInAddress();
  if (project !== null) asked.set("project", project);
  return `/api/batches/${path}?${asked}`;
}

async function ask(method: "GET" | "HEAD", url: string): Promise<Response> {
  const answer = await fetch(url, { method, credentials: "same-origin" }).catch(gone);
  if (answer.ok) return answer;
  throw new Refused(answer.status, (await answer.json().catch(() => ({}))) as Partial<ErrorShape>);
}

function gone(): never {
  throw new Unreachable();
}

function placeOf({ headers }: Response): Place {
  return {
    offset: Number(headers.get("Plait-Offset")),
    next: Number(headers.get("Plait-Next")),
    ended: headers.get("Plait-Ended") === "true",
  };
}

/** Of events, a line each: what was said. Of parts, only the text can be drawn. */
function said(lines: string): Part["text"] {
  return lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => `${entryOf(line)}\n`)
    .join("");
}

function entryOf(line: string): string {
  const { entry } = JSON.parse(line) as { entry?: { text?: string } };
  return (entry?.text ?? "").replaceAll("\n", " ");
}
