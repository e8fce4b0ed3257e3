import { useEffect, useState } from "react";
import type { Task } from "../api/types";
import { useMayNot } from "../app/me";
import { useCommands } from "../commands/commands";
import { openEditor } from "../editing/editor";
import { isGroup, members } from "../model/groups";
import { columnHolding, type Direction } from "../model/walk";
import { useBoard } from "../store/board";
import { chooseAll, choosePast, clear, toggle, useSelection } from "../store/selection";
import { openFilterMenu } from "./FilterMenu";
import { allSeen, selectable } from "./selecting";
import { focusedCard, go, useShown } from "./shown";
import { SEARCH } from "./Toolbar";

const BOARD = { group: "Board" };
const SELECTION = { group: "Selection" };

/** The card that a key means: the one that has the focus, else the one under the pointer, else where the keys were last. */
function meant(): Task | undefined {
  const under = document.querySelector<HTMLElement>("[data-card]:hover")?.dataset.card;
  const id = focusedCard() ?? under ?? useShown.getState().cursor;
  return id === null ? undefined : useBoard.getState().board.tasks.get(id);
}

function select(range: boolean): void {
  const task = meant();
  if (task === undefined) return;
  const { columns } = useShown.getState();
  const column = columnHolding(columns, task.id);
  if (isGroup(task)) chooseAll(members(useBoard.getState().board.tasks, task.id));
  else if (range && column !== undefined) choosePast(task.id, selectable(columns[column]));
  else toggle(task.id);
}

function edit(): void {
  const task = meant();
  if (task !== undefined) openEditor(task.id);
}

function open(opens: (task: Task) => void): void {
  const task = meant();
  if (task !== undefined) opens(task);
}

/** What the keys and the palette can do with the board. */
export function useBoardCommands(opens: (task: Task) => void, panelOpen: boolean): void {
  const mayNot = useMayNot();
  const none = useSelection((store) => store.chosen.size === 0);
  useCommands([
    {
      id: "new-task",
      title: "New task",
      ...BOARD,
      keys: ["c"],
      disabled: mayNot,
      run: () => openEditor(null),
    },
    { id: "edit-task", title: "Edit the task", ...BOARD, keys: ["e"], disabled: mayNot, run: edit },
    {
      id: "search",
      title: "Search",
      ...BOARD,
      keys: ["/"],
      run: () => document.getElementById(SEARCH)?.focus(),
    },
    { id: "filter", title: "Filter", ...BOARD, keys: ["f"], run: openFilterMenu },
    { id: "select", title: "Select the task, or not", ...SELECTION, keys: ["x"], run: () => select(false) },
    {
      id: "select-range",
      title: "Select up to here",
      ...SELECTION,
      keys: ["Shift+X"],
      run: () => select(true),
    },
    { id: "select-all", title: "Select all", ...SELECTION, keys: ["Mod+A"], run: () => chooseAll(allSeen()) },
    {
      id: "select-none",
      title: "Clear the selection",
      ...SELECTION,
      keys: ["Escape"],
      disabled: none ? "Nothing is selected." : panelOpen ? "A task is open: close it first." : null,
      run: clear,
    },
  ]);
  useWalk(opens);
}

/** The arrows and Enter are the cards' while the focus is on one: elsewhere they scroll and press as everywhere. */
function useWalk(opens: (task: Task) => void): void {
  const onCard = useOnCard();
  const keys = (letter: string, ...own: string[]) => ({ keys: onCard ? [letter, ...own] : [letter] });
  const step = (direction: Direction) => ({ ...BOARD, hidden: true, run: () => go(direction) });
  useCommands([
    { id: "next-card", title: "Next task", ...keys("j", "ArrowDown"), ...step("down") },
    { id: "last-card", title: "Task before", ...keys("k", "ArrowUp"), ...step("up") },
    { id: "next-column", title: "Next column", ...keys("l", "ArrowRight"), ...step("right") },
    { id: "last-column", title: "Column before", ...keys("h", "ArrowLeft"), ...step("left") },
    { id: "first-card", title: "First task of the column", ...keys("Shift+K", "Home"), ...step("first") },
    { id: "end-card", title: "Last task of the column", ...keys("Shift+J", "End"), ...step("last") },
    {
      id: "open-task",
      title: "Open the task",
      ...BOARD,
      hidden: true,
      ...keys("o", "Enter"),
      run: () => open(opens),
    },
  ]);
}

/** Whether a card has the focus; a dialog in front of it changes nothing about that. */
function useOnCard(): boolean {
  const [onCard, setOnCard] = useState(false);
  useEffect(() => {
    const moved = (to: EventTarget | null) => {
      const element = to instanceof Element ? to : null;
      if (element?.closest("dialog") == null) setOnCard(element?.closest("[data-card]") != null);
    };
    const came = ({ target }: FocusEvent) => moved(target);
    const left = ({ relatedTarget }: FocusEvent) => moved(relatedTarget);
    document.addEventListener("focusin", came);
    document.addEventListener("focusout", left);
    return () => {
      document.removeEventListener("focusin", came);
      document.removeEventListener("focusout", left);
    };
  }, []);
  return onCard;
}
