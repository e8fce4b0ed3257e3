import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Diff } from "../api/types";
import { useReadOnlyReason } from "../app/me";
import type { FileChange } from "./change";
import type { Comment } from "./comments";
import type { Match } from "./find";
import { useLineSelection } from "./pointing";
import type { RowContext } from "./RowView";
import type { RowListHandle } from "./Sheet";
import { useScrollTarget } from "./showing";
import { useDiffKeys } from "./useChangeKeys";
import type { DiffTarget } from "./useDiff";
import { useDraftRows } from "./useDraftRows";
import { useDiffFind } from "./useFind";
import { useFolding } from "./useFolding";
import { useDiffMode } from "./view";
import { listFiles } from "./whole";

/** Whoever reads or writes keeps what is there. */
export type Reading = RefObject<{ sheet: boolean; writing: boolean }>;

interface DiffStateOptions {
  target: DiffTarget;
  diff: Diff;
  text: string;
  /** There is no room for two sides. */
  narrow: boolean;
  reading: Reading;
}

/** A change as somebody reads it: its rows, what is folded, found, shown, pointed at and said about it. */
export function useDiffState({ target, diff, text, narrow, reading }: DiffStateOptions) {
  const files = useMemo(() => listFiles(diff, text), [diff, text]);
  const { folded, fold, foldAll } = useFolding(files);
  const preferred = useDiffMode((store) => store.view);
  const view = narrow ? "unified" : preferred;
  const attempt = diff.attempt ?? 0;
  const draftRows = useDraftRows(target, attempt, files, view, folded);
  const { draftKey, draft, writing, rows } = draftRows;
  useEffect(() => {
    reading.current.writing = writing;
  }, [writing, reading]);
  const rowList = useRef<RowListHandle>(null);
  const scrolling = useScrollTarget(rows, rowList, folded, fold);
  const { scrollTo } = scrolling;
  const find = useDiffFind(
    files,
    useCallback((match: Match) => scrollTo({ file: match.file, line: match.line }), [scrollTo]),
  );
  const lineSelection = useLineSelection(rows, draftKey, attempt);
  const commentTarget = useCommentTarget(draftKey, lineSelection.select);
  const query = find.open ? find.deferredQuery : "";
  const context: RowContext = useMemo(
    () => ({ folded, query, commentTarget, draftKey, draft, fold }),
    [folded, query, commentTarget, draftKey, draft, fold],
  );
  const [top, setTop] = useState<FileChange | undefined>(undefined);
  const current = scrolling.targetFile ?? top;
  const keyDown = useDiffKeys({
    files,
    current,
    scrollTo,
    view,
    narrow,
    find,
    lineSelection,
    commentTarget,
    rowList,
  });
  const allFolded = folded.size === files.length;
  const { selection } = lineSelection;
  return {
    ...draftRows,
    ...scrolling,
    files,
    view,
    allFolded,
    foldAll,
    find,
    selection,
    context,
    current,
    setTop,
    rowList,
    keyDown,
  };
}

function useCommentTarget(draftKey: string | null, select: ReturnType<typeof useLineSelection>["select"]) {
  const disabled = useReadOnlyReason();
  return useMemo(() => (draftKey === null ? null : { disabled, select }), [draftKey, disabled, select]);
}

/** The line that a comment is about, where it is still there. */
export function commentLocation(files: readonly FileChange[], { path, side, to }: Comment) {
  const file = files.find((each) => each.path === path);
  return file === undefined ? null : { file, line: { side, n: to } };
}
