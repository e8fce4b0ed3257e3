/* How the board is looked at: kept in the address, so that a reload and a link show the same. */

import { useEffect, useRef } from "react";
import { useSearchParams } from "wouter";
import { create } from "zustand";
import { GROUPINGS, type Grouping } from "../model/arrangement";
import type { Column } from "../model/columns";
import { type Filter, filterIn, NO_FILTER, withFilter } from "../model/filter";

interface View {
  readonly filter: Filter;
  readonly grouping: Grouping;
  /** The one that is seen where there is room for one. */
  readonly column: Column;
}

const WRITE = 250; // ms: an address that changes with each letter is refused by browsers

export const useView = create<View>(() => ({ ...viewIn(window.location.search), column: "todo" }));

function viewIn(search: string): Pick<View, "filter" | "grouping"> {
  const said = new URLSearchParams(search);
  const group = said.get("group") as Grouping | null;
  return {
    filter: filterIn(said),
    grouping: group !== null && GROUPINGS.includes(group) ? group : "none",
  };
}

function withView(search: URLSearchParams, { filter, grouping }: View): URLSearchParams {
  const next = withFilter(search, filter);
  next.delete("group");
  if (grouping !== "none") next.set("group", grouping);
  return next;
}

export function setFilter(filter: Filter): void {
  useView.setState({ filter });
}

export function clearFilter(): void {
  setFilter(NO_FILTER);
}

export function setGrouping(grouping: Grouping): void {
  useView.setState({ grouping });
}

export function setColumn(column: Column): void {
  useView.setState({ column });
}

/** The address follows the view, and the view follows whoever goes to another address. */
export function useViewInAddress(): void {
  const [search, setSearch] = useSearchParams();
  const said = withView(new URLSearchParams(), { ...viewIn(`?${search}`), column: "todo" }).toString();
  const written = useRef<string | null>(null);
  const set = useRef(setSearch);
  set.current = setSearch;
  useEffect(() => {
    if (said === written.current) return;
    written.current = said;
    useView.setState(viewIn(`?${said}`));
  }, [said]);
  useEffect(() => {
    let timer = 0;
    const write = () => {
      const view = useView.getState();
      const text = withView(new URLSearchParams(), view).toString();
      if (text === written.current) return;
      written.current = text;
      set.current((now) => withView(now, view), { replace: true });
    };
    const stop = useView.subscribe(() => {
      window.clearTimeout(timer);
      timer = window.setTimeout(write, WRITE);
    });
    return () => {
      stop();
      window.clearTimeout(timer);
    };
  }, []);
}
