import { useMemo } from "react";
import type { FileChange } from "./change";
import { commentDraftKey as keyOf, useCommentDraft } from "./comments";
import { type DiffMode, buildRows as rowsOf } from "./rows";
import type { DiffTarget } from "./useDiff";

/** The rows with the comments of this attempt among them. The words of a comment that is being written change no row. */
export function useDraftRows(
  target: DiffTarget,
  attempt: number,
  files: readonly FileChange[],
  view: DiffMode,
  folded: ReadonlyMap<string, string>,
) {
  const draftKey = target.taskId === null ? null : keyOf(target.batchId, target.taskId);
  const draft = useCommentDraft(draftKey ?? "");
  const ownComments = useMemo(
    () => draft.comments.filter((each) => each.attempt === attempt),
    [draft.comments, attempt],
  );
  const current = draft.writing?.attempt === attempt ? draft.writing : null;
  const editedId = current?.id ?? null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: where it is, and not its words
  const writing = useMemo(() => current, [current?.path, current?.side, current?.from, current?.to]);
  const rows = useMemo(
    () => rowsOf(files, { view, folded, comments: ownComments.filter(({ id }) => id !== editedId), writing }),
    [files, view, folded, ownComments, editedId, writing],
  );
  /** What is being written is about another attempt, or about lines that are folded or gone. */
  const detached = useMemo(
    () => draft.writing !== null && !rows.some(({ kind }) => kind === "writing"),
    [rows, draft.writing],
  );
  return { draftKey, draft, writing: current !== null, detached, rows };
}
