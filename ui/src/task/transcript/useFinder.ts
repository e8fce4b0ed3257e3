import { useEffect, useRef, useState } from "react";
import { describeError } from "../../api/client";
import { findNext, type Position } from "./find";
import type { TranscriptWindow } from "./window";

export interface TranscriptSearch {
  readonly query: string;
  readonly current: Position | null;
  /** How much was looked at, while it is being looked for. */
  readonly progress: number | null;
  /** What came of it, where that is not seen. */
  readonly note: string | null;
  setQuery(query: string): void;
  findNext(down: boolean): void;
  stop(): void;
}

/** Words to look for, and the match that one is at. */
export function useTranscriptSearch(shown: TranscriptWindow): TranscriptSearch {
  const [query, setQueryState] = useState("");
  const [current, setCurrent] = useState<Position | null>(null);
  const [progress, setProgress] = useState<number | null>(null);
  const [note, setNote] = useState<string | null>(null);
  const aborter = useRef<AbortController | null>(null);
  const stop = () => {
    aborter.current?.abort();
    aborter.current = null;
    setProgress(null);
  };
  useEffect(() => () => aborter.current?.abort(), []);

  const search = async (down: boolean) => {
    stop();
    const controller = new AbortController();
    aborter.current = controller;
    setNote(null);
    setProgress(0);
    const { page, char } = shown.position();
    const from = current ?? { page, char: down ? char - 1 : char };
    try {
      const request = { query, from, down, signal: controller.signal, progress: setProgress };
      const found = await findNext(shown.pages, request);
      if (controller.signal.aborted) return;
      setCurrent(found);
      if (found === null) setNote("Not found");
      else await shown.showMatch(found);
    } catch (error) {
      if (!controller.signal.aborted) setNote(describeError(error).message);
    }
    if (aborter.current === controller) stop();
  };
  return {
    query,
    current,
    progress,
    note,
    setQuery: (next) => {
      stop();
      setQueryState(next);
      setCurrent(null);
      setNote(null);
    },
    findNext: (down) => {
      if (query !== "") void search(down);
    },
    stop: () => {
      stop();
      setNote("Stopped");
    },
  };
}
