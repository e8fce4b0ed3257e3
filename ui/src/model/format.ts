/* Formats numbers, durations and times. Pure: now is passed in. */

import type { Cost, Diffstat } from "../api/types";

/** `3m 02s`, `1h 04m`, `2d 3h`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const two = (n: number) => String(n).padStart(2, "0");
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`;
  if (whole < 86400) return `${Math.floor(whole / 3600)}h ${two(Math.floor((whole % 3600) / 60))}m`;
  return `${Math.floor(whole / 86400)}d ${Math.floor((whole % 86400) / 3600)}h`;
}

/** Seconds from one instant to another, or to now. */
export function secondsBetween(from: string, to: string | null, now: number): number {
  return ((to === null ? now : Date.parse(to)) - Date.parse(from)) / 1000;
}

/** Seconds of work: those that are over, and those since the running part started. */
export function workSeconds(seconds: number, workingSince: string | null, now: number): number {
  return seconds + (workingSince === null ? 0 : Math.max(0, secondsBetween(workingSince, null, now)));
}

/** ` (43s of agent time)`; empty if it isn't more than the time of work. */
export function formatAgentTime(seconds: number, agentSeconds: number): string {
  const text = formatDuration(agentSeconds);
  return agentSeconds > seconds && text !== formatDuration(seconds) ? ` (${text} of agent time)` : "";
}

/** `$0.41`, or `12k tok` where no price is known, or nothing. */
export function formatCost({ usd, tokens }: Cost): string {
  if (usd > 0) return usd < 0.01 ? "<$0.01" : `$${usd.toFixed(2)}`;
  if (tokens > 0) return `${formatCompact(tokens)} tok`;
  return "";
}

export function formatCompact(n: number): string {
  if (n < 1000) return String(n);
  if (n < 999_500) return `${(n / 1000).toFixed(n < 9_950 ? 1 : 0)}k`;
  return `${(n / 1_000_000).toFixed(1)}M`;
}

/** `+182 −12`; nothing if no lines changed, as in images and renames. */
export function formatLineCounts({ plus, minus }: { plus: number; minus: number }): string {
  return plus + minus > 0 ? `+${plus} −${minus}` : "";
}

/** `+182 −12`, or the number of files if no lines changed. */
export function formatDiffstat({ files, added, removed }: Diffstat): string {
  const lines = formatLineCounts({ plus: added, minus: removed });
  return lines || (files > 0 ? pluralize(files, "file") : "no change");
}

export function pluralize(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

const MAX_NAMES = 3;

/** `a, b`; of many the first ones and how many more. */
export function joinNames(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return more <= 1 ? names.join(", ") : `${names.slice(0, MAX_NAMES).join(", ")} and ${more} more`;
}

/** `14:03`, with the day where it is another. */
export function formatTime(instant: string, now: number): string {
  const at = new Date(instant);
  const time = at.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const same = at.toDateString() === new Date(now).toDateString();
  return same ? time : `${at.toLocaleDateString(undefined, { day: "numeric", month: "short" })}, ${time}`;
}

/** `about 6m left`, or `longer than expected` once the estimate has passed. */
export function formatTimeLeft(instant: string, now: number): string {
  const seconds = (Date.parse(instant) - now) / 1000;
  return seconds <= 0 ? "longer than expected" : `about ${formatDuration(Math.max(1, seconds))} left`;
}

/** Characters that change the direction of the text after them, spelled out: they could make a text read as another. */
export function spellOutBidi(text: string): string {
  return text.replace(
    /[\u202a-\u202e\u2066-\u2069]/g,
    (letter) => `<U+${letter.charCodeAt(0).toString(16).toUpperCase()}>`,
  );
}

/** `512 bytes`, `64.0 kB`, `1.2 MB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1000) return pluralize(bytes, "byte");
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(bytes < 10_000 ? 1 : 0)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** A short form of an id that is enough to recognise it. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}
