import { useMemo } from "react";
import type { FileChange } from "./change";
import { draftKey as keyOf, useDraft } from "./comments";
import { rows as rowsOf, type View } from "./rows";
import type { Asked } from "./useDiff";

/** The rows with the comments of this attempt among them. The words of a comment that is being written change no row. */
export function useDraftRows(
  asked: Asked,
  attempt: number,
  files: readonly FileChange[],
  view: View,
  folded: ReadonlyMap<string, string>,
) {
  const draftKey = asked.taskId === null ? null : keyOf(asked.batchId, asked.taskId);
  const draft = useDraft(draftKey ?? "");
  const here = useMemo(
    () => draft.comments.filter((each) => each.attempt === attempt),
    [draft.comments, attempt],
  );
  const place = draft.writing?.attempt === attempt ? draft.writing : null;
  const written = place?.id ?? null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: where it is, and not its words
  const writing = useMemo(() => place, [place?.path, place?.side, place?.from, place?.to]);
  const rows = useMemo(
    () => rowsOf(files, { view, folded, comments: here.filter(({ id }) => id !== written), writing }),
    [files, view, folded, here, written, writing],
  );
  /** What is being written is about another attempt, or about lines that are folded or gone. */
  const homeless = useMemo(
    () => draft.writing !== null && !rows.some(({ kind }) => kind === "writing"),
    [rows, draft.writing],
  );
  return { draftKey, draft, writing: place !== null, homeless, rows };
}
