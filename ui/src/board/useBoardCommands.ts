import { useEffect, useState } from "react";
import type { Task } from "../api/types";
import { useReadOnlyReason } from "../app/access";
import type { Tab } from "../app/routes";
import { useCommands } from "../commands/commands";
import { openEditor } from "../editing/editorState";
import { type Direction, findColumn } from "../model/cardNavigation";
import { groupMembers, isGroup } from "../model/groups";
import { useBoard } from "../store/board";
import { clearSelection, selectRange, toggleAll, toggleSelected, useSelection } from "../store/selection";
import { focusedCard, moveFocus, selectableIds, useBoardLayout, visibleIds } from "./boardLayout";
import { approveCard, openCardMenu, retryCard, tellCard } from "./cardCommands";
import { openFilterMenu, SEARCH_ID } from "./Toolbar";

const BOARD = { group: "Board" };
const SELECTION = { group: "Selection" };

/**
 * The card that a key applies to: the focused one, else the one under the pointer, else the last focused one.
 */
function targetTask(): Task | undefined {
  const hovered = document.querySelector<HTMLElement>("[data-card]:hover")?.dataset.card;
  const id = focusedCard() ?? hovered ?? useBoardLayout.getState().cursor;
  return id === null ? undefined : useBoard.getState().board.tasks.get(id);
}

function selectTarget(range: boolean): void {
  const task = targetTask();
  if (task === undefined) return;
  const { columns } = useBoardLayout.getState();
  const column = findColumn(columns, task.id);
  if (isGroup(task)) toggleAll(groupMembers(useBoard.getState().board.tasks, task.id));
  else if (range && column !== undefined) selectRange(task.id, selectableIds(columns[column]));
  else toggleSelected(task.id);
}

type OpenTask = (task: Task, tab?: Tab) => void;

function onTarget(act: (task: Task) => void): void {
  const task = targetTask();
  if (task !== undefined) act(task);
}

/** Also while the tasks are loading: what is typed after the key must not reach the board that appears meanwhile. */
export function useNewTaskCommand(): void {
  const disabled = useReadOnlyReason();
  useCommands([
    { id: "new-task", title: "New task", ...BOARD, keys: ["c"], disabled, run: () => openEditor(null) },
  ]);
}

/** The board's commands for shortcuts and the palette. */
export function useBoardCommands(openTask: OpenTask, panelOpen: boolean): void {
  const readOnlyReason = useReadOnlyReason();
  const nothingSelected = useSelection((store) => store.selected.size === 0);
  useCommands([
    {
      id: "edit-task",
      title: "Edit task",
      ...BOARD,
      keys: ["e"],
      disabled: readOnlyReason,
      run: () => onTarget(({ id }) => openEditor(id)),
    },
    {
      id: "retry-card",
      title: "Retry task",
      ...BOARD,
      keys: ["Shift+R"],
      disabled: readOnlyReason,
      run: () => onTarget(retryCard),
    },
    {
      id: "approve-card",
      title: "Approve task",
      ...BOARD,
      keys: ["a"],
      disabled: readOnlyReason,
      run: () => onTarget(approveCard),
    },
    {
      id: "tell-card",
      title: "Tell the agent",
      ...BOARD,
      keys: ["t"],
      disabled: readOnlyReason,
      run: () => onTarget(tellCard),
    },
    {
      id: "log-card",
      title: "Open log",
      ...BOARD,
      keys: ["Shift+L"],
      run: () => onTarget((task) => openTask(task, "log")),
    },
    {
      id: "card-menu",
      title: "Actions on the task",
      ...BOARD,
      keys: ["m"],
      run: () => onTarget(({ id }) => openCardMenu(id)),
    },
    {
      id: "search",
      title: "Search",
      ...BOARD,
      keys: ["/"],
      run: () => document.getElementById(SEARCH_ID)?.focus(),
    },
    { id: "filter", title: "Filter", ...BOARD, keys: ["f"], run: openFilterMenu },
    {
      id: "select",
      title: "Toggle selection",
      ...SELECTION,
      keys: ["x"],
      run: () => selectTarget(false),
    },
    {
      id: "select-range",
      title: "Select range",
      ...SELECTION,
      keys: ["Shift+X"],
      run: () => selectTarget(true),
    },
    {
      id: "select-all",
      title: "Select all",
      ...SELECTION,
      keys: ["Mod+A"],
      run: () => toggleAll(visibleIds()),
    },
    {
      id: "select-none",
      title: "Clear selection",
      ...SELECTION,
      keys: ["Escape"],
      disabled: nothingSelected
        ? "Nothing is selected."
        : panelOpen
          ? "A task is open: close it first."
          : null,
      run: clearSelection,
    },
  ]);
  useCardNavigation(openTask);
}

/** Arrows and Enter are for cards only while one has the focus; elsewhere they scroll and press as usual. */
function useCardNavigation(openTask: OpenTask): void {
  const onCard = useCardFocused();
  const keys = (letter: string, ...own: string[]) => ({ keys: onCard ? [letter, ...own] : [letter] });
  const step = (direction: Direction) => ({ ...BOARD, hidden: true, run: () => moveFocus(direction) });
  useCommands([
    { id: "next-card", title: "Next task", ...keys("j", "ArrowDown"), ...step("down") },
    { id: "last-card", title: "Previous task", ...keys("k", "ArrowUp"), ...step("up") },
    { id: "next-column", title: "Next column", ...keys("l", "ArrowRight"), ...step("right") },
    { id: "last-column", title: "Previous column", ...keys("h", "ArrowLeft"), ...step("left") },
    { id: "first-card", title: "First task in the column", ...keys("Shift+K", "Home"), ...step("first") },
    { id: "end-card", title: "Last task in the column", ...keys("Shift+J", "End"), ...step("last") },
    {
      id: "open-task",
      title: "Open task",
      ...BOARD,
      hidden: true,
      ...keys("o", "Enter"),
      run: () => onTarget((task) => openTask(task)),
    },
  ]);
}

/** Whether a card has the focus, also behind a dialog. */
function useCardFocused(): boolean {
  const [onCard, setOnCard] = useState(false);
  useEffect(() => {
    const update = (to: EventTarget | null) => {
      const element = to instanceof Element ? to : null;
      if (element?.closest("dialog") == null) setOnCard(element?.closest("[data-card]") != null);
    };
    const onFocusIn = ({ target }: FocusEvent) => update(target);
    const onFocusOut = ({ relatedTarget }: FocusEvent) => update(relatedTarget);
    document.addEventListener("focusin", onFocusIn);
    document.addEventListener("focusout", onFocusOut);
    return () => {
      document.removeEventListener("focusin", onFocusIn);
      document.removeEventListener("focusout", onFocusOut);
    };
  }, []);
  return onCard;
}
