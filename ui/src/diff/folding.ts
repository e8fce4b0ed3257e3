/* Which files are folded at first: those that nobody reads line by line. */

import type { FileChange } from "./change";

const BIG = 800; // changed lines
const LOCKS =
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.ya?ml|bun\.lockb?|go\.sum|[^/]*\.lock|[^/]*-lock\.json|Package\.resolved)$/i;
const MADE = /\.(min\.(js|css)|map|snap)$|(^|\/)(dist|vendor|node_modules)\//i;

/** A sentence; `null`: it is shown. */
export function whyFolded({ path, plus, minus }: Pick<FileChange, "path" | "plus" | "minus">): string | null {
  if (LOCKS.test(path)) return "A lock file, folded at first.";
  if (MADE.test(path)) return "Made by a program, folded at first.";
  if (plus + minus > BIG) return `${(plus + minus).toLocaleString("en")} changed lines, folded at first.`;
  return null;
}
