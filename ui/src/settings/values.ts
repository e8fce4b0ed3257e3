/* Formats and parses setting values. Pure. The server validates: what can't be parsed here is sent as typed, so that the
   server's message explains the problem. */

import type { Setting, SettingOrigin } from "../api/types";

export type Value = string | number | boolean | null | readonly unknown[] | Readonly<Record<string, unknown>>;
export type Kind = Setting["kind"];

/** What a field shows. */
export function formatValue(kind: Kind, value: Value): string {
  if (value === null) return "";
  switch (kind) {
    case "duration":
      return typeof value === "number" ? formatSeconds(value) : String(value);
    case "size":
      return typeof value === "number" ? formatBytes(value) : String(value);
    case "list":
    case "choices":
      return Array.isArray(value) ? value.join("\n") : String(value);
    case "table":
      return isEmpty(value) ? "" : JSON.stringify(value, null, 2);
    default:
      return String(value);
  }
}

/** The value to send for typed text. Throws if it must be JSON and isn't. */
export function parseValue(kind: Kind, text: string): Value {
  const plain = text.trim();
  switch (kind) {
    case "number":
    case "duration":
    case "size":
      return /^-?\d+(\.\d+)?$/.test(plain) ? Number(plain) : plain;
    case "list":
    case "choices":
      return splitLines(text);
    case "table":
      return plain === "" ? {} : parseTable(plain);
    case "text":
      return text.trim() === "" ? "" : text;
    default:
      return plain;
  }
}

/** The value on one line, for read-only access. */
export function summarizeValue(kind: Kind, value: Value): string {
  const none = value === null || value === "" || isEmpty(value);
  if (none) return "none";
  if (typeof value === "boolean") return value ? "on" : "off";
  if (kind === "table") return JSON.stringify(value);
  return formatValue(kind, value).replaceAll("\n", ", ");
}

/** Adds or removes a choice; in `order`, if given. */
export function toggleChoice(current: Value, choice: string, on: boolean, order?: readonly string[]): Value {
  const others = (Array.isArray(current) ? current.map(String) : []).filter((each) => each !== choice);
  const selected = on ? [...others, choice] : others;
  return order === undefined ? selected : order.filter((each) => selected.includes(each));
}

/** A table with this entry; "" removes it. */
export function withEntry(current: Value, name: string, text: string): Value {
  const entries = Object.entries(current ?? {}).filter(([each]) => each !== name);
  return Object.fromEntries(text === "" ? entries : [...entries, [name, text]]);
}

/** The origin of a value, for people. */
export function describeSource({ layer, at }: Pick<SettingOrigin, "layer" | "at">): string {
  switch (layer) {
    case "default":
      return "default";
    case "saved":
      return "saved here";
    case "user":
      return at === null ? "your own config" : `your own config, ${at}`;
    case "flag":
      return at === null ? "a flag" : `flag ${at}`;
    default:
      return at ?? layer;
  }
}

const TIME_UNITS = [
  ["d", 86_400],
  ["h", 3600],
  ["m", 60],
  ["s", 1],
] as const;
const SIZE_UNITS = [
  ["TB", 1024 ** 4],
  ["GB", 1024 ** 3],
  ["MB", 1024 ** 2],
  ["KB", 1024],
  ["B", 1],
] as const;

/** `30m`, `1h30m`; a fraction of a second stays a number. */
function formatSeconds(seconds: number): string {
  if (!Number.isInteger(seconds)) return String(seconds);
  let left = seconds;
  const parts = TIME_UNITS.map(([unit, size]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return count === 0 ? "" : `${count}${unit}`;
  });
  return parts.join("") || "0s";
}

/** `64MB`: in the largest unit without a remainder. */
function formatBytes(bytes: number): string {
  const [unit, size] = SIZE_UNITS.find(([, each]) => bytes >= each && bytes % each === 0) ?? ["B", 1];
  return `${bytes / size}${unit}`;
}

function splitLines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function parseTable(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new SyntaxError("not a table");
}

function isEmpty(value: Value): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
