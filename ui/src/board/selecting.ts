/* What of the board can be selected, and how many of the selected are not seen. */

import { COLUMNS } from "../model/columns";
import { isGroup } from "../model/groups";
import { useBoard } from "../store/board";
import { useSelection } from "../store/selection";
import { useShown } from "./shown";

/** Those that can be run: groups are selected by their parts. */
export function selectable(ids: readonly string[]): readonly string[] {
  const { tasks } = useBoard.getState().board;
  return ids.filter((id) => {
    const task = tasks.get(id);
    return task !== undefined && !isGroup(task);
  });
}

/** Column by column. */
export function allSeen(): readonly string[] {
  const { columns } = useShown.getState();
  return COLUMNS.flatMap((column) => selectable(columns[column]));
}

/** How many are selected that the filter hides. */
export function useHiddenSelected(): number {
  const chosen = useSelection((store) => store.chosen);
  return useShown(({ columns }) => {
    if (chosen.size === 0) return 0;
    const seen = new Set(COLUMNS.flatMap((column) => columns[column]));
    return [...chosen].filter((id) => !seen.has(id)).length;
  });
}
