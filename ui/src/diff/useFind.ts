import { useCallback, useDeferredValue, useMemo, useState } from "react";
import type { FileChange } from "./change";
import { type Match, matches } from "./find";

/** What somebody looks for, and where it stands. `onGo` shows a line. */
export function useFind(files: readonly FileChange[], onGo: (match: Match) => void) {
  const [words, setWords] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const looked = useDeferredValue(words ?? "");
  const found = useMemo(() => matches(files, looked), [files, looked]);
  const step = useCallback(
    (by: 1 | -1) => {
      // Whoever presses Enter at once means what stands there, and not what was looked for last.
      const all = words === looked ? found : matches(files, words ?? "");
      const next = (Math.max(at, by === 1 ? -1 : 0) + by + all.length) % Math.max(1, all.length);
      const match = all[next];
      if (match === undefined) return;
      setAt(next);
      onGo(match);
    },
    [at, files, found, looked, onGo, words],
  );
  const look = useCallback((said: string | null) => {
    setWords(said);
    setAt(-1);
  }, []);
  return { open: words !== null, words: words ?? "", looked, found, at, step, look };
}
