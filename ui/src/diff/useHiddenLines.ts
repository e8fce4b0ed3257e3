import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import { ApiError } from "../api/client";
import { dismissErrors, showError } from "../components/Toasts";
import { type FileText, type LineRange, showLines } from "./hiddenLines";
import type { FileChange } from "./parseDiff";
import { type DiffTarget, fetchFileText } from "./useDiff";
import { viewedKey } from "./viewedFiles";

export interface HiddenLines {
  /** Files whose text is being loaded, by their `viewedKey`. */
  readonly loading: ReadonlySet<string>;
  show(file: FileChange, range: LineRange): void;
  /** Leaves git's own lines. */
  hide(file: FileChange): void;
}

interface ShownLines {
  readonly text: FileText;
  readonly ranges: readonly LineRange[];
}

/**
 * The files with the hidden lines that were asked for, as long as their contents stay. A file's text is loaded with the first of
 * its lines; all other files, and their rows, stay as they are.
 */
export function useHiddenLines(
  target: DiffTarget,
  files: readonly FileChange[],
): { files: readonly FileChange[]; hiddenLines: HiddenLines } {
  const client = useQueryClient();
  const [shown, setShown] = useState<ReadonlyMap<string, ShownLines>>(new Map());
  const [loading, setLoading] = useState<ReadonlySet<string>>(new Set());
  const [made] = useState(() => new WeakMap<FileChange, { of: ShownLines; file: FileChange }>());

  const show = useCallback(
    async (file: FileChange, range: LineRange) => {
      const key = viewedKey(file);
      setLoading((now) => new Set(now).add(key));
      try {
        const text = await client.fetchQuery({
          queryKey: ["diff-file", target, key],
          queryFn: () => fetchFileText(target, file),
          staleTime: Number.POSITIVE_INFINITY,
          retry: false,
        });
        setShown((now) => new Map(now).set(key, { text, ranges: [...(now.get(key)?.ranges ?? []), range] }));
      } catch (error) {
        showError(error, undefined, key);
        if (error instanceof ApiError && error.status === 409)
          void client.invalidateQueries({ queryKey: ["diff", target.batchId, target.taskId] });
      } finally {
        setLoading((now) => new Set([...now].filter((each) => each !== key)));
      }
    },
    [client, target],
  );
  // What could not be shown of a file is over when another version of it is shown.
  useEffect(() => {
    const keys = new Set(files.map(viewedKey));
    return () => dismissErrors((subject) => subject !== null && keys.has(subject));
  }, [files]);
  const hide = useCallback(
    (file: FileChange) => setShown((now) => new Map([...now].filter(([key]) => key !== viewedKey(file)))),
    [],
  );
  const expanded = useMemo(() => {
    if (shown.size === 0) return files;
    return files.map((file) => {
      const of = shown.get(viewedKey(file));
      if (of === undefined) return file;
      const known = made.get(file);
      if (known?.of === of) return known.file;
      const next = { of, file: showLines(file, of.text, of.ranges) };
      made.set(file, next);
      return next.file;
    });
  }, [files, shown, made]);
  const hiddenLines = useMemo(() => ({ loading, show, hide }), [loading, show, hide]);
  return { files: expanded, hiddenLines };
}
