/* The files of a change by their folders, as a list. */

import type { FileChange } from "./change";

export type FileListEntry =
  | { readonly kind: "folder"; readonly key: string; readonly name: string }
  | { readonly kind: "file"; readonly key: string; readonly name: string; readonly file: FileChange };

/** Git's order: a folder is named where it begins, and the top is not. */
export function groupByFolder(files: readonly FileChange[]): FileListEntry[] {
  const entries: FileListEntry[] = [];
  let folder = "";
  for (const [index, file] of files.entries()) {
    const cut = file.path.lastIndexOf("/");
    const inside = file.path.slice(0, Math.max(0, cut));
    if (inside !== folder)
      entries.push({ kind: "folder", key: `${index}/`, name: inside === "" ? "/" : inside });
    folder = inside;
    entries.push({ kind: "file", key: `${index}`, name: file.path.slice(cut + 1), file });
  }
  return entries;
}
