import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Diff } from "../api/types";
import { useMayNot } from "../app/me";
import type { FileChange } from "./change";
import type { Comment } from "./comments";
import type { Match } from "./find";
import { usePointing } from "./pointing";
import type { Drawing } from "./RowView";
import type { SheetHandle } from "./Sheet";
import { useShowing } from "./showing";
import { useChangeKeys } from "./useChangeKeys";
import type { Asked } from "./useDiff";
import { useDraftRows } from "./useDraftRows";
import { useFind } from "./useFind";
import { useFolding } from "./useFolding";
import { useView } from "./view";
import { whole } from "./whole";

/** Whoever reads or writes keeps what is there. */
export type Reading = RefObject<{ sheet: boolean; writing: boolean }>;

interface What {
  asked: Asked;
  diff: Diff;
  text: string;
  /** There is no room for two sides. */
  narrow: boolean;
  reading: Reading;
}

/** A change as somebody reads it: its rows, what is folded, found, shown, pointed at and said about it. */
export function useChanges({ asked, diff, text, narrow, reading }: What) {
  const files = useMemo(() => whole(diff, text), [diff, text]);
  const { folded, fold, foldAll } = useFolding(files);
  const liked = useView((store) => store.view);
  const view = narrow ? "unified" : liked;
  const attempt = diff.attempt ?? 0;
  const drafted = useDraftRows(asked, attempt, files, view, folded);
  const { draftKey, draft, writing, rows } = drafted;
  useEffect(() => {
    reading.current.writing = writing;
  }, [writing, reading]);
  const sheet = useRef<SheetHandle>(null);
  const showing = useShowing(rows, sheet, folded, fold);
  const { show } = showing;
  const find = useFind(
    files,
    useCallback((match: Match) => show({ file: match.file, line: match.line }), [show]),
  );
  const pointing = usePointing(rows, draftKey, attempt);
  const commenting = useCommenting(draftKey, pointing.point);
  const words = find.open ? find.looked : "";
  const drawing: Drawing = useMemo(
    () => ({ folded, words, commenting, draftKey, draft, fold }),
    [folded, words, commenting, draftKey, draft, fold],
  );
  const [top, setTop] = useState<FileChange | undefined>(undefined);
  const current = showing.goal ?? top;
  const keyDown = useChangeKeys({ files, current, show, view, narrow, find, pointing, commenting, sheet });
  const allFolded = folded.size === files.length;
  const { pointed } = pointing;
  return {
    ...drafted,
    ...showing,
    files,
    view,
    allFolded,
    foldAll,
    find,
    pointed,
    drawing,
    current,
    setTop,
    sheet,
    keyDown,
  };
}

function useCommenting(draftKey: string | null, point: ReturnType<typeof usePointing>["point"]) {
  const disabled = useMayNot();
  return useMemo(() => (draftKey === null ? null : { disabled, point }), [draftKey, disabled, point]);
}

/** The line that a comment is about, where it is still there. */
export function lineOf(files: readonly FileChange[], { path, side, to }: Comment) {
  const file = files.find((each) => each.path === path);
  return file === undefined ? null : { file, line: { side, n: to } };
}
