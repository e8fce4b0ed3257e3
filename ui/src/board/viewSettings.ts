/* Filter and grouping of the board, kept in the URL. */

import { useEffect, useRef } from "react";
import { useSearchParams } from "wouter";
import { create } from "zustand";
import { GROUPINGS, type Grouping } from "../model/arrangement";
import type { Column } from "../model/columns";
import { type Filter, NO_FILTER, parseFilter, withFilter } from "../model/filter";

interface ViewSettings {
  readonly filter: Filter;
  readonly grouping: Grouping;
  /** The column shown if only one fits. */
  readonly column: Column;
}

const URL_DELAY_MS = 250; // ms: browsers refuse URL changes at every keystroke

export const useViewSettings = create<ViewSettings>(() => ({
  ...parseView(window.location.search),
  column: "todo",
}));

function parseView(search: string): Pick<ViewSettings, "filter" | "grouping"> {
  const params = new URLSearchParams(search);
  const group = params.get("group") as Grouping | null;
  return {
    filter: parseFilter(params),
    grouping: group !== null && GROUPINGS.includes(group) ? group : "none",
  };
}

function withView(search: URLSearchParams, { filter, grouping }: ViewSettings): URLSearchParams {
  const next = withFilter(search, filter);
  next.delete("group");
  if (grouping !== "none") next.set("group", grouping);
  return next;
}

export function setFilter(filter: Filter): void {
  useViewSettings.setState({ filter });
}

export function clearFilter(): void {
  setFilter(NO_FILTER);
}

export function setGrouping(grouping: Grouping): void {
  useViewSettings.setState({ grouping });
}

export function setColumn(column: Column): void {
  useViewSettings.setState({ column });
}

/** Keeps the URL and the view settings in sync, in both directions. */
export function useViewInUrl(): void {
  const [search, setSearch] = useSearchParams();
  const current = withView(new URLSearchParams(), { ...parseView(`?${search}`), column: "todo" }).toString();
  const written = useRef<string | null>(null);
  const set = useRef(setSearch);
  set.current = setSearch;
  useEffect(() => {
    if (current === written.current) return;
    written.current = current;
    useViewSettings.setState(parseView(`?${current}`));
  }, [current]);
  useEffect(() => {
    let timer = 0;
    const write = () => {
      const view = useViewSettings.getState();
      const text = withView(new URLSearchParams(), view).toString();
      if (text === written.current) return;
      written.current = text;
      set.current((now) => withView(now, view), { replace: true });
    };
    const stop = useViewSettings.subscribe(() => {
      window.clearTimeout(timer);
      timer = window.setTimeout(write, URL_DELAY_MS);
    });
    return () => {
      stop();
      window.clearTimeout(timer);
    };
  }, []);
}
