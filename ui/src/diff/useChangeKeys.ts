/* What keys do in a change: n and p everywhere, j, k and c where the lines have the focus. */

import type { KeyboardEvent, RefObject } from "react";
import { useCommands } from "../commands/commands";
import type { FileChange } from "./change";
import type { Commenting } from "./Lines";
import type { usePointing } from "./pointing";
import type { View } from "./rows";
import type { SheetHandle } from "./Sheet";
import type { Wanted } from "./showing";
import type { useFind } from "./useFind";
import { setView } from "./view";

interface What {
  files: readonly FileChange[];
  current: FileChange | undefined;
  show(wanted: Wanted): void;
  view: View;
  narrow: boolean;
  find: ReturnType<typeof useFind>;
  pointing: ReturnType<typeof usePointing>;
  commenting: Commenting | null;
  sheet: RefObject<SheetHandle | null>;
}

/** Gives what the lines do with a key. */
export function useChangeKeys({
  files,
  current,
  show,
  view,
  narrow,
  find,
  pointing,
  commenting,
  sheet,
}: What) {
  const jump = (step: 1 | -1) => {
    const at = current === undefined ? 0 : files.indexOf(current);
    const next = files[Math.min(files.length - 1, Math.max(0, at + step))];
    if (next !== undefined) show({ file: next, line: null });
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
      run: () => setView(view === "split" ? "unified" : "split"),
    },
    {
      id: "diff-find",
      title: "Find in the change",
      group: "Change",
      keys: ["Mod+F", "/"],
      run: () => find.look(find.words),
    },
  ]);
  return (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.metaKey || event.ctrlKey || event.altKey) return;
    const key = event.key.toLowerCase();
    if (key === "j" || key === "k") {
      const at = pointing.move(key === "j" ? 1 : -1, event.shiftKey, sheet.current?.top() ?? 0);
      if (at !== null) sheet.current?.go(at, "auto");
    } else if (key === "c" && pointing.pointed !== null && commenting?.disabled === null) {
      pointing.comment(pointing.pointed);
    } else return;
    event.preventDefault();
  };
}
