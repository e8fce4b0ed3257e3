/* What a person chooses for each file of a conflict. Pure. */

import type { components } from "../api/schema";

export type ConflictFile = components["schemas"]["ConflictFile"];
export type TaskConflict = components["schemas"]["TaskConflict"];
type FileResolution = components["schemas"]["FileResolution"];

/** A side, or the text that a person edited. */
export type FileChoice =
  | { readonly kind: "batch" }
  | { readonly kind: "task" }
  | { readonly kind: "edit"; readonly text: string };

export type Choices = ReadonlyMap<string, FileChoice>;

const MARKER = /^(?:<{7}|>{7}|\|{7})(?: |\r?$)/m;

/** The number of the first line that is still a conflict marker; `null` if there is none. */
export function findMarker(text: string): number | null {
  const found = MARKER.exec(text);
  return found === null ? null : text.slice(0, found.index).split("\n").length;
}

/** The edited text with the line ends of the original, since a text field has only \n: an unchanged line keeps its own,
 *  a new one gets the most frequent. */
export function restoreLineEnds(original: string, edited: string): string {
  const crlfCount = original.split("\r\n").length - 1;
  if (crlfCount === 0) return edited;
  const lfCount = original.split("\n").length - 1 - crlfCount;
  const usual = crlfCount >= lfCount ? "\r\n" : "\n";
  const known = new Map<string, string>();
  for (const line of original.split("\n").slice(0, -1))
    known.set(line.replace(/\r$/, ""), line.endsWith("\r") ? "\r\n" : "\n");
  const lines = edited.replaceAll("\r\n", "\n").split("\n");
  return lines
    .map((line, n) => (n === lines.length - 1 ? line : `${line}${known.get(line) ?? usual}`))
    .join("");
}

interface Missing {
  /** Files without a choice. */
  readonly open: readonly string[];
  /** Edited files with a conflict marker, and its line. */
  readonly marked: readonly { path: string; line: number }[];
}

export function findMissing(conflict: TaskConflict, choices: Choices): Missing {
  const open: string[] = [];
  const marked: { path: string; line: number }[] = [];
  for (const { path } of conflict.files) {
    const choice = choices.get(path);
    if (choice === undefined) open.push(path);
    const line = choice?.kind === "edit" ? findMarker(choice.text) : null;
    if (line !== null) marked.push({ path, line });
  }
  return { open, marked };
}

export function toRequestFiles(conflict: TaskConflict, choices: Choices): FileResolution[] {
  return conflict.files.flatMap(({ path, merged }): FileResolution[] => {
    const choice = choices.get(path);
    if (choice === undefined) return [];
    if (choice.kind === "edit") return [{ path, text: restoreLineEnds(merged ?? "", choice.text) }];
    return [{ path, side: choice.kind }];
  });
}
