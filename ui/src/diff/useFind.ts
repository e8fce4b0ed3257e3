import { useCallback, useDeferredValue, useMemo, useState } from "react";
import type { FileChange } from "./change";
import { findMatches, type Match } from "./find";

/** What somebody looks for, and where it stands. `onGo` shows a line. */
export function useDiffFind(files: readonly FileChange[], onShow: (match: Match) => void) {
  const [query, setQuery] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const deferredQuery = useDeferredValue(query ?? "");
  const matches = useMemo(() => findMatches(files, deferredQuery), [files, deferredQuery]);
  const step = useCallback(
    (by: 1 | -1) => {
      // Whoever presses Enter at once means what stands there, and not what was looked for last.
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
