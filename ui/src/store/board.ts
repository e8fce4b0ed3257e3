/* The state of the board. Only `live/` writes to it. */

import { create } from "zustand";
import type { Task } from "../api/types";
import { type Board, EMPTY_BOARD } from "../model/board";

/** `live`: what is shown is so now. `lost`: the login holds no more. */
export type ConnectionState = "connecting" | "live" | "reconnecting" | "lost";

interface BoardStore {
  board: Board;
  connection: ConnectionState;
  /** Of the last reading; with `loaded`, what was read before is still shown. */
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
