import { type KeyboardEvent, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { create } from "zustand";
import type { Diff } from "../api/types";
import { useReadOnlyReason } from "../app/access";
import { useCommands } from "../commands/commands";
import { loadItem, saveItem } from "../store/browserStorage";
import { type Comment, commentDraftKey, useCommentDraft } from "./commentDrafts";
import { useDiffFind } from "./DiffFind";
import type { CommentTarget, RowContext } from "./DiffRow";
import type { RowListHandle } from "./DiffRowList";
import { buildRows, type DiffMode, foldReason, type Row, rowLines, type Side } from "./diffRows";
import { rangeAround } from "./hiddenLines";
import { useHighlighting } from "./highlight";
import type { Match } from "./lineMatches";
import { useLineSelection } from "./lineSelection";
import { type FileChange, type Line, listFiles } from "./parseDiff";
import type { DiffTarget } from "./useDiff";
import { useHiddenLines } from "./useHiddenLines";
import { setViewed, useViewedFiles, viewedKey } from "./viewedFiles";

/** A reader or writer keeps the current version. */
export type Reading = RefObject<{ sheet: boolean; writing: boolean }>;

interface DiffStateOptions {
  target: DiffTarget;
  diff: Diff;
  text: string;
  /** The window is too narrow for two columns. */
  narrow: boolean;
  reading: Reading;
}

/** The state of a diff view: rows, folding, search, scroll target, selection and comments. */
export function useDiffState({ target, diff, text, narrow, reading }: DiffStateOptions) {
  const listed = useMemo(() => listFiles(diff, text), [diff, text]);
  const { files, hiddenLines } = useHiddenLines(target, listed);
  const { folded, fold, foldAll, viewed, markViewed } = useFolding(files);
  const syntax = useHighlighting(listed);
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
  const commentTarget = useCommentTarget(draftKey, lineSelection);
  const query = find.open ? find.deferredQuery : "";
  const context: RowContext = useMemo(
    () => ({
      target,
      hiddenLines,
      folded,
      query,
      syntax,
      viewed,
      setViewed: markViewed,
      commentTarget,
      draftKey,
      draft,
      fold,
    }),
    [target, hiddenLines, folded, query, syntax, viewed, markViewed, commentTarget, draftKey, draft, fold],
  );
  const showComment = useCallback(
    ({ path, side, to }: Comment) => {
      const file = files.find((each) => each.path === path);
      if (file === undefined) return;
      const hidden = rangeAround(file, side, to);
      if (hidden !== null) hiddenLines.show(file, hidden);
      scrollTo({ file, line: { side, n: to } });
    },
    [files, hiddenLines, scrollTo],
  );
  const [top, setTop] = useState<FileChange | undefined>(undefined);
  const { path } = scrolling.targetFile ?? top ?? {};
  const current = useMemo(() => files.find((file) => file.path === path), [files, path]);
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
    viewedCount: files.filter((file) => viewed.has(viewedKey(file))).length,
    find,
    selection,
    showComment,
    context,
    current,
    setTop,
    rowList,
    keyDown,
  };
}

function useCommentTarget(
  draftKey: string | null,
  { select, drag, endDrag }: ReturnType<typeof useLineSelection>,
): CommentTarget | null {
  const disabled = useReadOnlyReason();
  return useMemo(
    () => (draftKey === null ? null : { disabled, select, drag, endDrag }),
    [draftKey, disabled, select, drag, endDrag],
  );
}

/** The rows including this attempt's comments. Typing a comment doesn't change them. */
function useDraftRows(
  target: DiffTarget,
  attempt: number,
  files: readonly FileChange[],
  view: DiffMode,
  folded: ReadonlyMap<string, string>,
) {
  const draftKey = target.taskId === null ? null : commentDraftKey(target.batchId, target.taskId);
  const draft = useCommentDraft(draftKey ?? "");
  const ownComments = useMemo(
    () => draft.comments.filter((each) => each.attempt === attempt),
    [draft.comments, attempt],
  );
  const current = draft.writing?.attempt === attempt ? draft.writing : null;
  const editedId = current?.id ?? null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: its position matters, not its text
  const writing = useMemo(() => current, [current?.path, current?.side, current?.from, current?.to]);
  const rows = useMemo(
    () =>
      buildRows(files, { view, folded, comments: ownComments.filter(({ id }) => id !== editedId), writing }),
    [files, view, folded, ownComments, editedId, writing],
  );
  /** Whether the comment being written is about another attempt, or about lines that are folded or gone. */
  const detached = useMemo(
    () => draft.writing !== null && !rows.some(({ kind }) => kind === "writing"),
    [rows, draft.writing],
  );
  return { draftKey, draft, writing: current !== null, detached, rows };
}

const FOLDED_NOTE = "Collapsed.";
const VIEWED_NOTE = "Viewed.";

/** Which files are folded, and why: at first by their kind, then by the user. */
function useFolding(files: readonly FileChange[]) {
  const [overrides, setOverrides] = useState<ReadonlyMap<string, boolean>>(new Map());
  const viewed = useViewedFiles((store) => store.viewed);
  const folded = useMemo(() => {
    const reasons = new Map<string, string>();
    for (const file of files) {
      const reason = viewed.has(viewedKey(file)) ? VIEWED_NOTE : foldReason(file);
      if (overrides.get(file.path) ?? reason !== null) reasons.set(file.path, reason ?? FOLDED_NOTE);
    }
    return reasons;
  }, [files, overrides, viewed]);
  const fold = useCallback(
    (path: string, on: boolean) => setOverrides((now) => new Map(now).set(path, on)),
    [],
  );
  const foldAll = useCallback(
    (on: boolean) => setOverrides(new Map(files.map(({ path }) => [path, on]))),
    [files],
  );
  const markViewed = useCallback(
    (file: FileChange, on: boolean) => {
      setViewed(file, on);
      fold(file.path, on);
    },
    [fold],
  );
  return { folded, fold, foldAll, viewed, markViewed };
}

interface ScrollTarget {
  readonly file: FileChange;
  /** A line, or its number on a side; `null`: the file's header. */
  readonly line: Line | { readonly side: Side; readonly n: number } | null;
}

/**
 * Scrolls to the target and unfolds its file; returns the row. `goal` is the target file until the user
 * scrolls: the last files of a diff can't be scrolled to the top.
 */
function useScrollTarget(
  rows: readonly Row[],
  sheet: RefObject<RowListHandle | null>,
  folded: ReadonlyMap<string, string>,
  fold: (path: string, on: boolean) => void,
) {
  const [target, setTarget] = useState<{ location: ScrollTarget } | null>(null);
  const index = target === null ? -1 : findRow(rows, target.location);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per target, as soon as its row exists
  useEffect(() => {
    if (target !== null && index >= 0)
      sheet.current?.scrollTo(index, target.location.line === null ? "start" : "center");
  }, [target, index >= 0]);
  const scrollTo = useCallback(
    (location: ScrollTarget) => {
      if (location.line !== null && folded.has(location.file.path)) fold(location.file.path, false);
      setTarget({ location });
    },
    [folded, fold],
  );
  const clearTarget = useCallback(() => setTarget(null), []);
  return {
    scrollTo,
    target: target?.location.line ? index : null,
    targetFile: target?.location.file,
    clearTarget,
  };
}

function findRow(rows: readonly Row[], { file, line }: ScrollTarget): number {
  if (line === null) return rows.findIndex((row) => row.kind === "file" && row.file.path === file.path);
  return rows.findIndex((row) => row.file.path === file.path && rowHasLine(row, line));
}

function rowHasLine(row: Row, line: NonNullable<ScrollTarget["line"]>): boolean {
  if ("text" in line) {
    return row.kind === "pair"
      ? row.left === line || row.right === line
      : row.kind === "line" && row.line === line;
  }
  const shown = rowLines(row)[line.side];
  return shown !== null && shown[line.side] === line.n;
}

interface DiffKeysOptions {
  files: readonly FileChange[];
  current: FileChange | undefined;
  scrollTo(wanted: ScrollTarget): void;
  view: DiffMode;
  narrow: boolean;
  find: ReturnType<typeof useDiffFind>;
  lineSelection: ReturnType<typeof useLineSelection>;
  commentTarget: CommentTarget | null;
  rowList: RefObject<RowListHandle | null>;
}

/** Returns the key handler of the lines. */
function useDiffKeys({
  files,
  current,
  scrollTo,
  view,
  narrow,
  find,
  lineSelection,
  commentTarget,
  rowList,
}: DiffKeysOptions) {
  const jump = (step: 1 | -1) => {
    const at = current === undefined ? 0 : files.indexOf(current);
    const next = files[Math.min(files.length - 1, Math.max(0, at + step))];
    if (next !== undefined) scrollTo({ file: next, line: null });
  };
  useCommands([
    { id: "diff-next", title: "Next file", group: "Change", keys: ["n"], run: () => jump(1) },
    { id: "diff-previous", title: "Previous file", group: "Change", keys: ["p"], run: () => jump(-1) },
    {
      id: "diff-view",
      title: view === "split" ? "Unified view" : "Side-by-side view",
      group: "Change",
      keys: ["u"],
      disabled: narrow ? "The window is too narrow for two columns." : null,
      run: () => setDiffMode(view === "split" ? "unified" : "split"),
    },
    {
      id: "diff-find",
      title: "Find in the diff",
      group: "Change",
      keys: ["Mod+F", "/"],
      run: () => find.search(find.query),
    },
  ]);
  return (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.metaKey || event.ctrlKey || event.altKey) return;
    const key = event.key.toLowerCase();
    if (key === "j" || key === "k") {
      const at = lineSelection.move(key === "j" ? 1 : -1, event.shiftKey, rowList.current?.topIndex() ?? 0);
      if (at !== null) rowList.current?.scrollTo(at, "auto");
    } else if (key === "c" && lineSelection.selection !== null && commentTarget?.disabled === null) {
      lineSelection.startCommentOn(lineSelection.selection);
    } else return;
    event.preventDefault();
  };
}

const KEY = "plait.diff.view";

const useDiffMode = create<{ view: DiffMode }>(() => ({
  view: loadItem(KEY) === "unified" ? "unified" : "split",
}));

export function setDiffMode(view: DiffMode): void {
  saveItem(KEY, view);
  useDiffMode.setState({ view });
}
