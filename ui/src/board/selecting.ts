/* What of the board can be selected, and how many of the selected are not seen. */

import { COLUMNS } from "../model/columns";
import { isGroup } from "../model/groups";
import { useBoard } from "../store/board";
import { useSelection } from "../store/selection";
import { useBoardLayout } from "./shown";

/** Those that can be run: groups are selected by their parts. */
export function selectableIds(ids: readonly string[]): readonly string[] {
  const { tasks } = useBoard.getState().board;
  return ids.filter((id) => {
    const task = tasks.get(id);
    return task !== undefined && !isGroup(task);
  });
}

/** Column by column. */
export function visibleIds(): readonly string[] {
  const { columns } = useBoardLayout.getState();
  return COLUMNS.flatMap((column) => selectableIds(columns[column]));
}

/** How many are selected that the filter hides. */
export function useHiddenSelectionCount(): number {
  const selected = useSelection((store) => store.selected);
  return useBoardLayout(({ columns }) => {
    if (selected.size === 0) return 0;
    const visible = new Set(COLUMNS.flatMap((column) => columns[column]));
    return [...selected].filter((id) => !visible.has(id)).length;
  });
}
