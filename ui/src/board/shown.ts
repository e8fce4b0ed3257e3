/* What the board shows right now: of all tasks those that are looked at, each in its column, and nothing moved that
   somebody has a hand on. */

import { create } from "zustand";
import { type Arrangement, arrange, EMPTY, shared } from "../model/arrangement";
import { COLUMNS, type Column } from "../model/columns";
import { matcher } from "../model/filter";
import { type Hands, heldBy, hold, letGoAt, NO_HANDS, narrow } from "../model/hold";
import { columnHolding, type Direction, firstOf, step } from "../model/walk";
import { useBoard } from "../store/board";
import { useView } from "./view";

interface Shown {
  readonly columns: Arrangement;
  /** Where everything belongs: what is held may stand elsewhere. */
  readonly belongs: Arrangement;
  readonly narrow: ReadonlySet<Column>;
  /** The card that the keys are at, and by which one comes into the board. */
  readonly cursor: string | null;
  /** It is to have the focus as soon as it is drawn. */
  readonly wanted: { readonly id: string; readonly scroll: boolean } | null;
  /** The one whose panel is open. */
  readonly open: string | null;
}

export const useShown = create<Shown>(() => ({
  columns: EMPTY,
  belongs: EMPTY,
  narrow: new Set(COLUMNS),
  cursor: null,
  wanted: null,
  open: null,
}));

let hands: Hands = NO_HANDS;
let timer = 0;

/** As long as the board is there. */
export function watchBoard(): () => void {
  look(true);
  const stops = [
    useBoard.subscribe(({ board }, before) => {
      if (board.tasks !== before.board.tasks) look(false);
    }),
    useView.subscribe(({ filter, grouping }, before) => {
      if (filter !== before.filter || grouping !== before.grouping) look(true);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
    window.clearTimeout(timer);
    hands = NO_HANDS;
  };
}

/** `anew`: another view was asked for, and nothing is held. */
function look(anew: boolean): void {
  const { filter, grouping } = useView.getState();
  const before = useShown.getState();
  const held = anew ? new Set<Column>() : heldBy(hands, Date.now());
  const now = arrange(useBoard.getState().board.tasks.values(), matcher(filter), grouping);
  const belongs = shared(before.belongs, now);
  const columns = hold(before.columns, now, held);
  const narrowed = narrow(before.narrow, columns, held);
  if (columns === before.columns && belongs === before.belongs && narrowed === before.narrow) return;
  const cursor =
    before.cursor !== null && columnHolding(columns, before.cursor) ? before.cursor : firstOf(columns);
  useShown.setState({
    columns,
    belongs,
    narrow: narrowed,
    cursor,
    wanted: focusLost(before.columns, columns) ?? before.wanted,
  });
}

/** A card that goes to another column takes the focus with it. */
function focusLost(before: Arrangement, now: Arrangement): Shown["wanted"] {
  const id = focusedCard();
  if (id === null) return null;
  const there = columnHolding(now, id);
  return there !== undefined && there !== columnHolding(before, id) ? { id, scroll: false } : null;
}

export function focusedCard(): string | null {
  const card = document.activeElement?.closest<HTMLElement>("[data-card]");
  return card?.dataset.card ?? null;
}

function take(next: Hands): void {
  hands = next;
  const now = Date.now();
  const end = letGoAt(hands, now);
  window.clearTimeout(timer);
  if (end !== null) timer = window.setTimeout(letGo, end - now + 1);
}

function letGo(): void {
  take(hands);
  look(false);
}

export const pointer = {
  moved: (column: Column) => take({ ...hands, pointer: { column, at: Date.now() } }),
  left: () => {
    take({ ...hands, pointer: null });
    look(false);
  },
};

export const keys = {
  moved: (column: Column) => take({ ...hands, keys: { column, at: Date.now() } }),
  left: () => {
    take({ ...hands, keys: null });
    look(false);
  },
};

export function setCursor(cursor: string): void {
  useShown.setState({ cursor });
}

/** Puts the focus on the card in that direction. */
export function go(direction: Direction): void {
  const { columns, cursor } = useShown.getState();
  const from = focusedCard() ?? (isNowhere(document.activeElement) ? null : cursor);
  const id = from === null ? cursor : step(columns, from, direction);
  if (id !== null) goTo(id);
}

/** Where the focus is when what had it is gone. */
function isNowhere(element: Element | null): boolean {
  return element === null || element === document.body || element.id === "main";
}

export function goTo(id: string): void {
  const { columns, narrow: before } = useShown.getState();
  const column = columnHolding(columns, id);
  if (column === undefined) return;
  useView.setState({ column });
  const narrowed = before.has(column) ? narrow(null, columns, new Set()) : before;
  useShown.setState({ cursor: id, wanted: { id, scroll: true }, narrow: narrowed });
}
