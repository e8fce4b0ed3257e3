import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { describeError } from "../../api/client";
import { useCommands } from "../../commands/commands";
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

/** The search text, and what sets it. */
export type SearchText = readonly [string, (text: string) => void];

/** The current match of the search text. */
export function useTranscriptSearch(
  shown: TranscriptWindow,
  [query, setQueryState]: SearchText,
): TranscriptSearch {
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

const FIELD = {
  id: "find-in-log",
  label: "Find in the log",
  placeholder: "Find",
  maxLength: 200,
};

/** Whether the search field has the focus. */
export function isSearching(): boolean {
  return document.activeElement?.id === FIELD.id;
}

export function useFindCommand(): void {
  useCommands([
    {
      id: "log-find",
      title: FIELD.label,
      group: "Task",
      keys: ["/"],
      run: () => document.getElementById(FIELD.id)?.focus(),
    },
  ]);
}

/** While there is no transcript yet: what is typed after the keys of a log and of its search must reach this field. */
export function EarlyFind({ text: [query, setQuery] }: { text: SearchText }) {
  useFindCommand();
  return (
    <div className={styles.tools}>
      <search className={styles.find}>
        <SearchField {...FIELD} value={query} onSearch={setQuery} />
      </search>
    </div>
  );
}

interface TranscriptFindProps {
  finder: TranscriptSearch;
  view: WindowView;
  /** It had the focus before the transcript was there. */
  takesFocus: boolean;
}

/** Search: matches in the loaded part are shown at once; Enter searches everything. */
export function TranscriptFind({ finder, view, takesFocus }: TranscriptFindProps) {
  const { query, progress } = finder;
  const field = useRef<HTMLInputElement>(null);
  const [wasSearching] = useState(takesFocus);
  useFindCommand();
  useLayoutEffect(() => {
    if (!wasSearching) return;
    field.current?.focus();
    field.current?.setSelectionRange(-1, -1);
  }, [wasSearching]);
  return (
    <search className={styles.find}>
      <SearchField
        {...FIELD}
        ref={field}
        value={query}
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
