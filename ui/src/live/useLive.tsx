import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import { useSearchParams } from "wouter";
import { NOTHING } from "../model/board";
import { useBoard } from "../store/board";
import { clear } from "../store/selection";
import { Live } from "./live";
import { queries } from "./queries";

const Context = createContext<Live | null>(null);

/** One project is watched at a time: the one in the address. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const [search] = useSearchParams();
  const project = search.get("project");
  const [live, setLive] = useState<Live | null>(null);
  useEffect(() => {
    useBoard.setState({ board: NOTHING, link: "connecting", failure: null, loaded: false });
    const watching = new Live(project);
    setLive(watching);
    return () => {
      watching.end();
      queries.clear();
      clear();
    };
  }, [project]);
  return <Context value={live}>{children}</Context>;
}

export function useLive(): Live | null {
  return useContext(Context);
}
