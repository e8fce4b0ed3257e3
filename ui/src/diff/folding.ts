/* Which files are folded at first: those that nobody reads line by line. */

import type { FileChange } from "./change";

const LARGE_FILE_LINES = 800; // changed lines
const LOCK_FILE =
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.ya?ml|bun\.lockb?|go\.sum|[^/]*\.lock|[^/]*-lock\.json|Package\.resolved)$/i;
const GENERATED_FILE = /\.(min\.(js|css)|map|snap)$|(^|\/)(dist|vendor|node_modules)\//i;

/** A sentence; `null`: it is shown. */
export function foldReason({
  path,
  plus,
  minus,
}: Pick<FileChange, "path" | "plus" | "minus">): string | null {
  if (LOCK_FILE.test(path)) return "A lock file, folded at first.";
  if (GENERATED_FILE.test(path)) return "Made by a program, folded at first.";
  if (plus + minus > LARGE_FILE_LINES)
    return `${(plus + minus).toLocaleString("en")} changed lines, folded at first.`;
  return null;
}
