/* The state of the board. Only `live/` writes to it. */

import { create } from "zustand";
import type { Task } from "../api/types";
import { type Board, EMPTY_BOARD } from "../model/board";

/** `live`: the board is up to date. `lost`: the login is no longer valid. */
export type ConnectionState = "connecting" | "live" | "reconnecting" | "lost";

interface BoardStore {
  board: Board;
  connection: ConnectionState;
  /** The error of the last fetch; with `loaded`, earlier data is still shown. */
  failure: unknown;
  loaded: boolean;
}

export const useBoard = create<BoardStore>(() => ({
  board: EMPTY_BOARD,
  connection: "connecting",
  failure: null,
  loaded: false,
}));

export function useTask(id: string): Task | undefined {
  return useBoard((store) => store.board.tasks.get(id));
}
