import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef } from "react";
import { Icon } from "../components/Icon";
import { formatLineCounts } from "../model/format";
import styles from "./FileList.module.css";
import { escapeSpecial } from "./lineSegments";
import type { FileChange } from "./parseDiff";
import { viewedKey } from "./viewedFiles";

interface Props {
  files: readonly FileChange[];
  current: FileChange | undefined;
  /** By their `viewedKey`. */
  viewed: ReadonlySet<string>;
  onSelect(file: FileChange): void;
}

/** All files by folder, as links into the diff. */
export function FileList({ files, current, viewed, onSelect }: Props) {
  const entries = useMemo(() => groupByFolder(files), [files]);
  const scroller = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 26,
    overscan: 20,
    useFlushSync: false,
  });
  return (
    <nav ref={scroller} className={styles.list} aria-label="Changed files">
      <ul className={styles.content} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ key, index, start }) => {
          const entry = entries[index];
          if (entry === undefined) return null;
          return (
            <li key={key} className={styles.entry} style={{ transform: `translateY(${start}px)` }}>
              {entry.kind === "folder" ? (
                <span className={styles.folder} title={escapeSpecial(entry.name)}>
                  <bdi>{escapeSpecial(entry.name)}</bdi>
                </span>
              ) : (
                <button
                  type="button"
                  className={styles.file}
                  aria-current={entry.file === current || undefined}
                  title={escapeSpecial(entry.file.path)}
                  onClick={() => onSelect(entry.file)}
                >
                  <bdi className={styles.name} data-viewed={viewed.has(viewedKey(entry.file)) || undefined}>
                    {escapeSpecial(entry.name)}
                  </bdi>
                  {viewed.has(viewedKey(entry.file)) && (
                    <span className={styles.viewed}>
                      <Icon name="check" size={12} />
                      <span className="visually-hidden">viewed</span>
                    </span>
                  )}
                  <span className={styles.counts}>
                    {entry.file.binary ? "binary" : formatLineCounts(entry.file)}
                  </span>
                </button>
              )}
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

type FileListEntry =
  | { readonly kind: "folder"; readonly key: string; readonly name: string }
  | { readonly kind: "file"; readonly key: string; readonly name: string; readonly file: FileChange };

/** In git's order; a folder is named before its first file, except for the top. */
export function groupByFolder(files: readonly FileChange[]): FileListEntry[] {
  const entries: FileListEntry[] = [];
  let folder = "";
  for (const [index, file] of files.entries()) {
    const cut = file.path.lastIndexOf("/");
    const inside = file.path.slice(0, Math.max(0, cut));
    if (inside !== folder)
      entries.push({ kind: "folder", key: `${index}/`, name: inside === "" ? "/" : inside });
    folder = inside;
    entries.push({ kind: "file", key: `${index}`, name: file.path.slice(cut + 1), file });
  }
  return entries;
}
