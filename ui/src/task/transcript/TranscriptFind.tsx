import { useEffect, useRef, useState } from "react";
import { describeError } from "../../api/client";
import { Button } from "../../components/Button";
import { Icon } from "../../components/Icon";
import { SearchField } from "../../components/SearchField";
import { pluralize } from "../../model/format";
import { findNext, type Position } from "./search";
import styles from "./Transcript.module.css";
import { pageMatches } from "./TranscriptRows";
import type { TranscriptWindow, WindowView } from "./transcriptWindow";

export interface TranscriptSearch {
  readonly query: string;
  readonly current: Position | null;
  /** The progress of a running search. */
  readonly progress: number | null;
  /** The result, if it isn't visible. */
  readonly note: string | null;
  setQuery(query: string): void;
  findNext(down: boolean): void;
  stop(): void;
}

/** The search text and the current match. */
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

interface TranscriptFindProps {
  id: string;
  finder: TranscriptSearch;
  view: WindowView;
}

/** Search: matches in the loaded part are shown at once; Enter searches everything. */
export function TranscriptFind({ id, finder, view }: TranscriptFindProps) {
  const { query, progress } = finder;
  return (
    <search className={styles.find}>
      <SearchField
        id={id}
        label="Find in the log"
        placeholder="Find"
        value={query}
        maxLength={200}
        onSearch={finder.setQuery}
        onKeyDown={(event) => {
          if (event.key === "Enter") finder.findNext(!event.shiftKey);
          else if (event.key === "Escape" && query !== "") finder.setQuery("");
          else return;
          event.preventDefault();
        }}
      />
      {query !== "" && (
        <>
          <Button kind="quiet" icon label="Previous match" onClick={() => finder.findNext(false)}>
            <Icon name="up" />
          </Button>
          <Button kind="quiet" icon label="Next match" onClick={() => finder.findNext(true)}>
            <Icon name="down" />
          </Button>
          <span className={styles.found} role="status">
            {progress === null
              ? (finder.note ?? describeLoaded(view, query))
              : `Searching: ${Math.round(progress * 100)} %`}
          </span>
          {progress !== null && (
            <Button kind="quiet" onClick={finder.stop}>
              Stop
            </Button>
          )}
        </>
      )}
    </search>
  );
}

function describeLoaded({ pageRows }: WindowView, query: string): string {
  const found = pageRows.reduce((sum, { page }) => sum + pageMatches(page, query).length, 0);
  return found === 0
    ? "Not in the loaded part: press Enter to search all"
    : `${pluralize(found, "match", "matches")} loaded`;
}
