/* What the board displays: matching tasks by column, without moving cards under the pointer or the keyboard focus. */

import { create } from "zustand";
import { type Arrangement, arrange, EMPTY_ARRANGEMENT } from "../model/arrangement";
import { type Direction, findColumn, firstCard, nextCard } from "../model/cardNavigation";
import { COLUMNS, type Column } from "../model/columns";
import { createMatcher } from "../model/filter";
import {
  collapseEmpty,
  freezeColumns,
  frozenColumns,
  type Interaction,
  NO_INTERACTION,
  unfreezeTime,
} from "../model/freezeOnHover";
import { isGroup } from "../model/groups";
import { useBoard } from "../store/board";
import { useSelection } from "../store/selection";
import { useViewSettings } from "./viewSettings";

interface BoardLayout {
  readonly columns: Arrangement;
  readonly narrow: ReadonlySet<Column>;
  /** The card with the keyboard cursor, which Tab leads to. */
  readonly cursor: string | null;
  /** It gets the focus as soon as it is rendered. */
  readonly focusRequest: { readonly id: string; readonly scroll: boolean } | null;
  /** The task whose panel is open. */
  readonly open: string | null;
}

export const useBoardLayout = create<BoardLayout>(() => ({
  columns: EMPTY_ARRANGEMENT,
  narrow: new Set(COLUMNS),
  cursor: null,
  focusRequest: null,
  open: null,
}));

let interaction: Interaction = NO_INTERACTION;
let timer = 0;

/** Whether the board is mounted. */
export function trackBoard(): () => void {
  updateLayout(true);
  const stops = [
    useBoard.subscribe(({ board }, before) => {
      if (board.tasks !== before.board.tasks) updateLayout(false);
    }),
    useViewSettings.subscribe(({ filter, grouping }, before) => {
      if (filter !== before.filter || grouping !== before.grouping) updateLayout(true);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
    window.clearTimeout(timer);
    interaction = NO_INTERACTION;
  };
}

/** `reset`: the filter or grouping changed, so nothing stays frozen. */
function updateLayout(reset: boolean): void {
  const { filter, grouping } = useViewSettings.getState();
  const before = useBoardLayout.getState();
  const frozen = reset ? new Set<Column>() : frozenColumns(interaction, Date.now());
  const now = arrange(useBoard.getState().board.tasks.values(), createMatcher(filter), grouping);
  const columns = freezeColumns(before.columns, now, frozen);
  const collapsed = collapseEmpty(before.narrow, columns, frozen);
  if (columns === before.columns && collapsed === before.narrow) return;
  const cursor =
    before.cursor !== null && findColumn(columns, before.cursor) ? before.cursor : firstCard(columns);
  useBoardLayout.setState({
    columns,
    narrow: collapsed,
    cursor,
    focusRequest: followFocusedCard(before.columns, columns) ?? before.focusRequest,
  });
}

/** A card that moves to another column keeps the focus. */
function followFocusedCard(before: Arrangement, now: Arrangement): BoardLayout["focusRequest"] {
  const id = focusedCard();
  if (id === null) return null;
  const column = findColumn(now, id);
  return column !== undefined && column !== findColumn(before, id) ? { id, scroll: false } : null;
}

export function focusedCard(): string | null {
  const card = document.activeElement?.closest<HTMLElement>("[data-card]");
  return card?.dataset.card ?? null;
}

function setInteraction(next: Interaction): void {
  interaction = next;
  const now = Date.now();
  const end = unfreezeTime(interaction, now);
  window.clearTimeout(timer);
  if (end !== null) timer = window.setTimeout(onFreezeEnd, end - now + 1);
}

function onFreezeEnd(): void {
  setInteraction(interaction);
  updateLayout(false);
}

/** After an action of the user, who wants to see what becomes of it: everything moves until the next movement. */
export function releaseFreeze(): void {
  setInteraction(NO_INTERACTION);
  updateLayout(false);
}

export const pointerActivity = {
  move: (column: Column) => setInteraction({ ...interaction, pointer: { column, at: Date.now() } }),
  leave: () => {
    setInteraction({ ...interaction, pointer: null });
    updateLayout(false);
  },
};

export const keyActivity = {
  move: (column: Column) => setInteraction({ ...interaction, keys: { column, at: Date.now() } }),
  leave: () => {
    setInteraction({ ...interaction, keys: null });
    updateLayout(false);
  },
};

export function setCursor(cursor: string): void {
  useBoardLayout.setState({ cursor });
}

/** Moves the focus to the card in that direction. */
export function moveFocus(direction: Direction): void {
  const { columns, cursor } = useBoardLayout.getState();
  const from = focusedCard() ?? (isFocusLost(document.activeElement) ? null : cursor);
  const id = from === null ? cursor : nextCard(columns, from, direction);
  if (id === null) return;
  focusCard(id);
  const column = findColumn(columns, id);
  if (column !== undefined) keyActivity.move(column);
}

/** Where the focus goes when its element disappears. */
function isFocusLost(element: Element | null): boolean {
  return element === null || element === document.body || element.id === "main";
}

/** Where only one column fits, it is the one with this card. */
export function showColumnOf(id: string): Column | undefined {
  const column = findColumn(useBoardLayout.getState().columns, id);
  if (column !== undefined) useViewSettings.setState({ column });
  return column;
}

export function focusCard(id: string): void {
  const { columns, narrow: before } = useBoardLayout.getState();
  const column = showColumnOf(id);
  if (column === undefined) return;
  const collapsed = before.has(column) ? collapseEmpty(null, columns, new Set()) : before;
  useBoardLayout.setState({ cursor: id, focusRequest: { id, scroll: true }, narrow: collapsed });
}

/** The tasks that can be run: groups are selected by their parts. */
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

/** How many selected tasks the filter hides. */
export function useHiddenSelectionCount(): number {
  const selected = useSelection((store) => store.selected);
  return useBoardLayout(({ columns }) => {
    if (selected.size === 0) return 0;
    const visible = new Set(COLUMNS.flatMap((column) => columns[column]));
    return [...selected].filter((id) => !visible.has(id)).length;
  });
}
