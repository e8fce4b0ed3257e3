/* An image before and after its change, beside each other. It is shown by <img> only, where nothing in it can run. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { describeError } from "../api/client";
import { formatSize } from "../model/format";
import type { Side } from "./diffRows";
import styles from "./ImageDiff.module.css";
import { escapeSpecial } from "./lineSegments";
import type { FileChange } from "./parseDiff";
import { type DiffTarget, fetchImage } from "./useDiff";
import { viewedKey } from "./viewedFiles";

export function ImageDiff({ target, file }: { target: DiffTarget; file: FileChange }) {
  return (
    <div className={styles.sides}>
      {file.status !== "added" && <ImageSide target={target} file={file} side="old" />}
      {file.status !== "deleted" && <ImageSide target={target} file={file} side="new" />}
    </div>
  );
}

const LABELS = { old: "Before", new: "After" } as const;

function ImageSide({ target, file, side }: { target: DiffTarget; file: FileChange; side: Side }) {
  const { data, error } = useQuery({
    queryKey: ["diff-image", target, viewedKey(file), side],
    queryFn: async () => {
      const image = await fetchImage(target, file, side);
      return { url: await readDataUrl(image), bytes: image.size };
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const [size, setSize] = useState<string | null>(null);
  const [broken, setBroken] = useState(false);
  const label = file.status === "added" ? "Added" : file.status === "deleted" ? "Deleted" : LABELS[side];
  const failure =
    error !== null ? describeError(error).message : broken ? "This image can't be displayed." : null;
  return (
    <figure className={styles.side} data-version={side}>
      <figcaption className={styles.caption}>
        <span className={styles.label}>{label}</span>
        {data !== undefined && [size, formatSize(data.bytes)].filter(Boolean).join(" · ")}
      </figcaption>
      {failure !== null ? (
        <p className={styles.failure}>{failure}</p>
      ) : (
        <div className={styles.frame} aria-busy={data === undefined || undefined}>
          {data !== undefined && (
            <img
              className={styles.image}
              src={data.url}
              alt={`${escapeSpecial(file.path)}, ${label.toLowerCase()}`}
              onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
                setSize(naturalWidth > 0 ? `${naturalWidth} × ${naturalHeight}` : null)
              }
              onError={() => setBroken(true)}
            />
          )}
        </div>
      )}
    </figure>
  );
}

/** The page may show images of its own server and data URLs; the image is loaded for its size and the server's messages. */
function readDataUrl(image: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error("the image could not be read"));
    reader.readAsDataURL(image);
  });
}
