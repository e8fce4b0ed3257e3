import { useEffect, useRef, useState } from "react";
import { inWords } from "../../api/client";
import { find, type Spot } from "./find";
import type { Window } from "./window";

export interface Finder {
  readonly words: string;
  readonly current: Spot | null;
  /** How much was looked at, while it is being looked for. */
  readonly share: number | null;
  /** What came of it, where that is not seen. */
  readonly note: string | null;
  type(words: string): void;
  go(down: boolean): void;
  stop(): void;
}

/** Words to look for, and the match that one is at. */
export function useFinder(shown: Window): Finder {
  const [words, setWords] = useState("");
  const [current, setCurrent] = useState<Spot | null>(null);
  const [share, setShare] = useState<number | null>(null);
  const [note, setNote] = useState<string | null>(null);
  const over = useRef<AbortController | null>(null);
  const stop = () => {
    over.current?.abort();
    over.current = null;
    setShare(null);
  };
  useEffect(() => () => over.current?.abort(), []);

  const look = async (down: boolean) => {
    stop();
    const mine = new AbortController();
    over.current = mine;
    setNote(null);
    setShare(0);
    const { page, char } = shown.spot();
    const from = current ?? { page, char: down ? char - 1 : char };
    try {
      const search = { words, from, down, signal: mine.signal, progress: setShare };
      const found = await find(shown.pages, search);
      if (mine.signal.aborted) return;
      setCurrent(found);
      if (found === null) setNote("Not found");
      else await shown.show(found);
    } catch (error) {
      if (!mine.signal.aborted) setNote(inWords(error).message);
    }
    if (over.current === mine) stop();
  };
  return {
    words,
    current,
    share,
    note,
    type: (next) => {
      stop();
      setWords(next);
      setCurrent(null);
      setNote(null);
    },
    go: (down) => {
      if (words !== "") void look(down);
    },
    stop: () => {
      stop();
      setNote("Stopped");
    },
  };
}
