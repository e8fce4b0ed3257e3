/* What keys do in a change: n and p everywhere, j, k and c where the lines have the focus. */

import type { KeyboardEvent, RefObject } from "react";
import { useCommands } from "../commands/commands";
import type { FileChange } from "./change";
import type { CommentTarget } from "./Lines";
import type { useLineSelection } from "./pointing";
import type { DiffMode } from "./rows";
import type { RowListHandle } from "./Sheet";
import type { ScrollTarget } from "./showing";
import type { useDiffFind } from "./useFind";
import { setDiffMode } from "./view";

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

/** Gives what the lines do with a key. */
export function useDiffKeys({
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
      title: view === "split" ? "Show it unified" : "Show it side by side",
      group: "Change",
      keys: ["u"],
      disabled: narrow ? "There is no room for two sides." : null,
      run: () => setDiffMode(view === "split" ? "unified" : "split"),
    },
    {
      id: "diff-find",
      title: "Find in the change",
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
