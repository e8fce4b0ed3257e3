import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { Button } from "../components/Button";
import { Icon } from "../components/Icon";
import { SearchField } from "../components/SearchField";
import styles from "./DiffFind.module.css";
import { findMatches, MAX_MATCHES, type Match } from "./lineMatches";
import type { FileChange } from "./parseDiff";

interface DiffFindProps {
  query: string;
  /** The number of matching lines, and which of them is shown. */
  total: number;
  at: number;
  onQuery(query: string): void;
  onStep(step: 1 | -1): void;
  onClose(): void;
}

export function DiffFind({ query, total, at, onQuery, onStep, onClose }: DiffFindProps) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  return (
    <search className={styles.find}>
      <SearchField
        ref={field}
        label="Find in the diff"
        placeholder="Find in the diff"
        value={query}
        onSearch={onQuery}
        onKeyDown={(event) => {
          if (event.key === "Enter") onStep(event.shiftKey ? -1 : 1);
          else if (event.key === "Escape") onClose();
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <span className={styles.count} role="status">
        {query === "" ? "" : formatMatchCount(total, at)}
      </span>
      <Button kind="quiet" icon label="Previous match" onClick={() => onStep(-1)}>
        <span className={styles.previous}>
          <Icon name="chevron" />
        </span>
      </Button>
      <Button kind="quiet" icon label="Next match" onClick={() => onStep(1)}>
        <span className={styles.next}>
          <Icon name="chevron" />
        </span>
      </Button>
      <Button kind="quiet" icon label="Close search" onClick={onClose}>
        <Icon name="close" />
      </Button>
    </search>
  );
}

function formatMatchCount(total: number, at: number): string {
  if (total === 0) return "Not found";
  const all =
    total === MAX_MATCHES ? `${MAX_MATCHES.toLocaleString("en")} or more` : total.toLocaleString("en");
  if (at < 0) return total === 1 ? "1 line" : `${all} lines`;
  return `${(at + 1).toLocaleString("en")} of ${all} lines`;
}

/** The search field of a diff. `onGo` shows a line. */
export function useDiffFind(files: readonly FileChange[], onShow: (match: Match) => void) {
  const [query, setQuery] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const deferredQuery = useDeferredValue(query ?? "");
  const matches = useMemo(() => findMatches(files, deferredQuery), [files, deferredQuery]);
  const step = useCallback(
    (by: 1 | -1) => {
      // Enter searches for the current text, even before the debounced search ran.
      const all = query === deferredQuery ? matches : findMatches(files, query ?? "");
      const next = (Math.max(at, by === 1 ? -1 : 0) + by + all.length) % Math.max(1, all.length);
      const match = all[next];
      if (match === undefined) return;
      setAt(next);
      onShow(match);
    },
    [at, files, matches, deferredQuery, onShow, query],
  );
  const search = useCallback((value: string | null) => {
    setQuery(value);
    setAt(-1);
  }, []);
  return { open: query !== null, query: query ?? "", deferredQuery, matches, at, step, search };
}
