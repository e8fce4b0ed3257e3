/* What a span is, in words: for tooltips, and for whoever does not see it. Pure. */

import type { Timeline } from "../api/types";
import { duration } from "../model/format";
import { instant, type Zone } from "./axis";
import type { Bar, Gap } from "./layout";

type Span = Timeline["spans"][number];

export const NAMES: Record<Span["kind"], string> = {
  write: "Write",
  verify: "Verify",
  merge: "Merge",
  gate: "Gate",
  pause: "Pause",
  rebuild: "Rebuild",
  publish: "Publish",
};

const ENDED: Record<NonNullable<Span["endedFor"]>, string> = {
  cancel: "it was cancelled",
  drop: "the task was dropped",
  blocked: "something it needs was not done",
  stop: "the batch was stopped",
  timeout: "it took too long",
  idle: "it said nothing for too long",
  feedback: "a person had feedback",
};

const RESULTS: Partial<Record<string, string>> = {
  task: "failed",
  verify: "failed verification",
  empty: "changed nothing",
  rate_limit: "met a rate limit",
  quota: "met a quota",
  auth: "was not let in",
  overloaded: "provider overloaded",
  network: "no network",
  context: "context too long",
  usage: "called wrongly",
  timeout: "timed out",
  idle: "idle for too long",
  question: "asked a question",
  conflict: "conflicted",
};

const GOOD: readonly (string | null)[] = ["ok", "merged", "passed", "done"];

/** How it went, for colour and pattern: a word says it too. */
export type Mood = "open" | "good" | "bad" | "plain";

export function mood({ span, open }: Bar): Mood {
  if (open) return "open";
  if (span.kind === "pause") return "plain";
  return GOOD.includes(span.result)
    ? "good"
    : span.result === null || span.result === "question"
      ? "plain"
      : "bad";
}

function resultWord({ span, open }: Bar): string | null {
  if (open) return "not over";
  return span.result === null ? null : (RESULTS[span.result] ?? span.result.replaceAll("_", " "));
}

export function barWords(bar: Bar, zone: Zone): string {
  const { span, from, to, open, retry } = bar;
  const kind = [
    NAMES[span.kind],
    span.n !== null && `attempt ${span.n}`,
    span.agent !== null && `by ${span.agent}`,
  ];
  const when = open
    ? `since ${instant(from, zone)}`
    : `from ${instant(from, zone)} to ${instant(to, zone, from)}`;
  const how = [resultWord(bar), duration((to - from) / 1000), when];
  const more = [
    span.endedFor !== null && `plait ended it: ${ENDED[span.endedFor]}`,
    span.detail,
    retry !== null && `Again, not before ${instant(Date.parse(retry.retryAt), zone, to)}: ${retry.why}`,
  ];
  return [`${said(kind, ", ")}: ${said(how, ", ")}`, ...more.filter(Boolean)].join(". ");
}

export function gapWords({ from, to, open, backoff }: Gap, zone: Zone): string {
  if (backoff !== null)
    return `Held back until ${instant(Date.parse(backoff.retryAt), zone, from)}: ${backoff.why}`;
  const long = duration((to - from) / 1000);
  return open
    ? `Waiting for ${long}, since ${instant(from, zone)}`
    : `Waited ${long}, until ${instant(to, zone, from)}`;
}

function said(words: readonly (string | false | null)[], between: string): string {
  return words.filter(Boolean).join(between);
}
