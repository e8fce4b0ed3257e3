import { useCallback, useMemo, useState } from "react";
import type { FileChange } from "./change";
import { foldReason } from "./folding";

const FOLDED_NOTE = "Folded.";

/** Which files are folded, and why: by what they are at first, then by what a person says. */
export function useFolding(files: readonly FileChange[]) {
  const [overrides, setOverrides] = useState<ReadonlyMap<string, boolean>>(new Map());
  const folded = useMemo(() => {
    const reasons = new Map<string, string>();
    for (const file of files) {
      const reason = foldReason(file);
      if (overrides.get(file.path) ?? reason !== null) reasons.set(file.path, reason ?? FOLDED_NOTE);
    }
    return reasons;
  }, [files, overrides]);
  const fold = useCallback(
    (path: string, on: boolean) => setOverrides((now) => new Map(now).set(path, on)),
    [],
  );
  const foldAll = useCallback(
    (on: boolean) => setOverrides(new Map(files.map(({ path }) => [path, on]))),
    [files],
  );
  return { folded, fold, foldAll };
}
