/* A setting's value as it stands in a field, and back. Pure. The server decides what fits: what can't be read here is sent
   as it was typed, so that the server's own words say what is wrong with it. */

import type { Given, Setting } from "../api/types";

export type Value = string | number | boolean | null | readonly unknown[] | Readonly<Record<string, unknown>>;
export type Kind = Setting["kind"];

/** What a field shows. */
export function textOf(kind: Kind, value: Value): string {
  if (value === null) return "";
  switch (kind) {
    case "duration":
      return typeof value === "number" ? lengthOf(value) : String(value);
    case "size":
      return typeof value === "number" ? sizeOf(value) : String(value);
    case "list":
    case "choices":
      return Array.isArray(value) ? value.join("\n") : String(value);
    case "table":
      return isEmpty(value) ? "" : JSON.stringify(value, null, 2);
    default:
      return String(value);
  }
}

/** What is sent for what was typed. Throws where it is no JSON and has to be. */
export function read(kind: Kind, text: string): Value {
  const plain = text.trim();
  switch (kind) {
    case "number":
    case "duration":
    case "size":
      return /^-?\d+(\.\d+)?$/.test(plain) ? Number(plain) : plain;
    case "list":
    case "choices":
      return linesOf(text);
    case "table":
      return plain === "" ? {} : tableOf(plain);
    case "text":
      return text.trim() === "" ? "" : text;
    default:
      return plain;
  }
}

/** In one line, for those who only read. */
export function wordsOf(kind: Kind, value: Value): string {
  const none = value === null || value === "" || isEmpty(value);
  if (none) return "none";
  if (typeof value === "boolean") return value ? "on" : "off";
  if (kind === "table") return JSON.stringify(value);
  return textOf(kind, value).replaceAll("\n", ", ");
}

/** With a choice or without it; in `order`, where there is one. */
export function toggled(known: Value, choice: string, on: boolean, order?: readonly string[]): Value {
  const others = (Array.isArray(known) ? known.map(String) : []).filter((each) => each !== choice);
  const chosen = on ? [...others, choice] : others;
  return order === undefined ? chosen : order.filter((each) => chosen.includes(each));
}

/** A table with this entry; "" takes it out. */
export function withEntry(known: Value, name: string, text: string): Value {
  const entries = Object.entries(known ?? {}).filter(([each]) => each !== name);
  return Object.fromEntries(text === "" ? entries : [...entries, [name, text]]);
}

/** Who gave a value, as people say it. */
export function sourceOf({ layer, at }: Pick<Given, "layer" | "at">): string {
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

const LENGTHS = [
  ["d", 86_400],
  ["h", 3600],
  ["m", 60],
  ["s", 1],
] as const;
const SIZES = [
  ["TB", 1024 ** 4],
  ["GB", 1024 ** 3],
  ["MB", 1024 ** 2],
  ["KB", 1024],
  ["B", 1],
] as const;

/** `30m`, `1h30m`; a fraction of a second stays a number. */
function lengthOf(seconds: number): string {
  if (!Number.isInteger(seconds)) return String(seconds);
  let left = seconds;
  const parts = LENGTHS.map(([unit, size]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return count === 0 ? "" : `${count}${unit}`;
  });
  return parts.join("") || "0s";
}

/** `64MB`: in the greatest unit that leaves nothing over. */
function sizeOf(bytes: number): string {
  const [unit, size] = SIZES.find(([, each]) => bytes >= each && bytes % each === 0) ?? ["B", 1];
  return `${bytes / size}${unit}`;
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function tableOf(text: string): Readonly<Record<string, unknown>> {
  const made: unknown = JSON.parse(text);
  if (typeof made === "object" && made !== null && !Array.isArray(made))
    return made as Record<string, unknown>;
  throw new SyntaxError("not a table");
}

function isEmpty(value: Value): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
