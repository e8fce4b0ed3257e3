import { useCallback, useMemo, useState } from "react";
import type { FileChange } from "./change";
import { whyFolded } from "./folding";

const BY_HAND = "Folded.";

/** Which files are folded, and why: by what they are at first, then by what a person says. */
export function useFolding(files: readonly FileChange[]) {
  const [said, setSaid] = useState<ReadonlyMap<string, boolean>>(new Map());
  const folded = useMemo(() => {
    const reasons = new Map<string, string>();
    for (const file of files) {
      const why = whyFolded(file);
      if (said.get(file.path) ?? why !== null) reasons.set(file.path, why ?? BY_HAND);
    }
    return reasons;
  }, [files, said]);
  const fold = useCallback((path: string, on: boolean) => setSaid((now) => new Map(now).set(path, on)), []);
  const foldAll = useCallback(
    (on: boolean) => setSaid(new Map(files.map(({ path }) => [path, on]))),
    [files],
  );
  return { folded, fold, foldAll };
}
