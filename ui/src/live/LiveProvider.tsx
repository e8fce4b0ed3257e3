import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import { useSearchParams } from "wouter";
import { resetRunOptions } from "../batch/runOptions";
import { closeEditor } from "../editing/editorState";
import { EMPTY_BOARD } from "../model/board";
import { useBoard } from "../store/board";
import { clearSelection } from "../store/selection";
import { LiveUpdates } from "./liveUpdates";
import { queryClient } from "./queryClient";

const LiveContext = createContext<LiveUpdates | null>(null);

/** Follows one project at a time: the one in the URL. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const [search] = useSearchParams();
  const project = search.get("project");
  const [live, setLive] = useState<LiveUpdates | null>(null);
  useEffect(() => {
    useBoard.setState({ board: EMPTY_BOARD, connection: "connecting", failure: null, loaded: false });
    const updates = new LiveUpdates(project);
    setLive(updates);
    return () => {
      updates.stop();
      queryClient.clear();
      clearSelection();
      resetRunOptions();
      closeEditor(); // it keeps its draft
    };
  }, [project]);
  return <LiveContext value={live}>{children}</LiveContext>;
}

export function useLive(): LiveUpdates | null {
  return useContext(LiveContext);
}
