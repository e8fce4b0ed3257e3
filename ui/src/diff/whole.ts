/* All files of a change, also those whose text was not sent. */

import type { Diff } from "../api/types";
import type { FileChange } from "./change";
import { parseDiff } from "./parse";

const NOT_SENT_NOTE = "The text ends before this file.";

/** What the text says, and what the list says of files that are not in the text. */
export function listFiles(diff: Pick<Diff, "files">, text: string): FileChange[] {
  const parsed = parseDiff(text);
  const known = new Map(parsed.map((file) => [file.path, file]));
  const listed = diff.files.map(({ path, before, plus, minus, binary }): FileChange => {
    const file = known.get(path);
    known.delete(path);
    if (file !== undefined) return file.note === null ? file : { ...file, plus, minus };
    return {
      path,
      before,
      plus,
      minus,
      binary,
      status: "modified",
      mode: null,
      hunks: [],
      note: NOT_SENT_NOTE,
    };
  });
  return [...listed, ...known.values()];
}
