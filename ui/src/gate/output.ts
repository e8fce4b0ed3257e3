/* What a gate printed, read from its end: that is where it says why it failed. */

import { api, unwrap } from "../api/client";

export const TAIL_BYTES = 256 << 10; // bytes

export interface GateLog {
  readonly text: string;
  /** More was printed before it. */
  readonly cut: boolean;
  /** Nothing comes any more. */
  readonly ended: boolean;
}

export async function fetchGateLog(batchId: string, gate: number): Promise<GateLog> {
  const answer = await api.GET("/api/batches/{batch_id}/log", {
    params: { path: { batch_id: batchId }, query: { gate, from: -TAIL_BYTES, limit: TAIL_BYTES } },
    parseAs: "text",
  });
  const text = (await unwrap(Promise.resolve(answer))) ?? "";
  const { headers } = answer.response;
  const cut = Number(headers.get("Plait-Offset")) > 0;
  return { text: cut ? dropPartialLine(text) : text, cut, ended: headers.get("Plait-Ended") === "true" };
}

/** Without the end of a line that began before; a line that is all there is stays. */
export function dropPartialLine(text: string): string {
  const end = text.indexOf("\n") + 1;
  return end === text.length ? text : text.slice(end);
}
