/* Both sides of a file in conflict. */

import { type ReactNode, useState } from "react";
import type { components } from "../api/schema";
import { Button } from "../components/Button";
import { escapeSpecial, segmentLine } from "../diff/lineSegments";
import { pluralize } from "../model/format";
import styles from "./Conflicts.module.css";
import { collapseContext, parseConflicts, type VisiblePart } from "./conflictMarkers";

type File = components["schemas"]["ConflictFile"];
const MAX_LINES = 400; // lines of one side

interface Props {
  taskId: string;
  file: File;
  /** What is shown of its resolution. */
  children?: ReactNode;
}

/** Both sides of a file, part by part. */
export function ConflictFile({ taskId, file, children }: Props) {
  const [showBase, setShowBase] = useState(false);
  const parts = file.merged === null ? null : collapseContext(parseConflicts(file.merged));
  const hasConflict = parts?.some(({ kind }) => kind === "conflict") ?? false;
  const hasBase = parts?.some((part) => part.kind === "conflict" && part.base !== null) ?? false;
  const changedBy = file.touchedBy.length === 0 ? "" : `, last changed by ${file.touchedBy.join(", ")}`;
  const names = { ours: `On the batch branch${changedBy}`, base: "Base", theirs: `In ${taskId}` };
  return (
    <section className={styles.file} aria-label={`Conflict in ${escapeSpecial(file.path)}`}>
      <header className={styles.fileHeader}>
        <h3 className={styles.path}>
          <bdi>{escapeSpecial(file.path)}</bdi>
        </h3>
        <span className={styles.kind}>{file.kind}</span>
        {file.base !== null && (
          <Button kind="quiet" aria-pressed={showBase} onClick={() => setShowBase(!showBase)}>
            Show base
          </Button>
        )}
      </header>
      {children}
      {file.binary ? (
        <p className={styles.note}>Binary file not shown. {file.said}</p>
      ) : parts !== null && hasConflict ? (
        <>
          {parts.map((part, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other key, and never move
            <ConflictPart key={place} part={part} names={names} showBase={showBase && hasBase} />
          ))}
          {showBase && !hasBase && <SidePane name={names.base} lines={splitSide(file, "base")} />}
        </>
      ) : (
        <>
          <p className={styles.note}>{file.said}</p>
          <div className={styles.sides}>
            <SidePane name={names.ours} lines={splitSide(file, "ours")} cut={file.cut.includes("ours")} />
            {showBase && (
              <SidePane name={names.base} lines={splitSide(file, "base")} cut={file.cut.includes("base")} />
            )}
            <SidePane
              name={names.theirs}
              lines={splitSide(file, "theirs")}
              cut={file.cut.includes("theirs")}
            />
          </div>
        </>
      )}
    </section>
  );
}

interface PartProps {
  part: VisiblePart;
  names: { ours: string; base: string; theirs: string };
  showBase: boolean;
}

function ConflictPart({ part, names, showBase }: PartProps) {
  if (part.kind === "gap") return <p className={styles.gap}>{pluralize(part.count, "unchanged line")}</p>;
  if (part.kind === "same") return <CodeLines lines={part.lines} />;
  return (
    <div className={styles.sides}>
      <SidePane name={names.ours} lines={part.ours} />
      {showBase && <SidePane name={names.base} lines={part.base ?? []} />}
      <SidePane name={names.theirs} lines={part.theirs} />
    </div>
  );
}

function SidePane({
  name,
  lines,
  cut = false,
}: {
  name: string;
  lines: readonly string[] | null;
  cut?: boolean;
}) {
  return (
    <figure className={styles.pane}>
      <figcaption>{name}</figcaption>
      {cut ? (
        <p className={styles.note}>Too long to show.</p>
      ) : lines === null ? (
        <p className={styles.note}>The file does not exist.</p>
      ) : lines.length === 0 ? (
        <p className={styles.note}>Empty.</p>
      ) : (
        <CodeLines lines={lines} />
      )}
    </figure>
  );
}

function CodeLines({ lines }: { lines: readonly string[] }) {
  const more = lines.length - MAX_LINES;
  return (
    <pre className={styles.text}>
      {lines.slice(0, MAX_LINES).map((line, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other key, and never move
        <span key={place} className={styles.codeLine}>
          {segmentLine(line.replace(/\r$/, ""))
            .map(({ text }) => text)
            .join("") || " "}
        </span>
      ))}
      {more > 0 && <span className={styles.gap}>{pluralize(more, "more line")}</span>}
    </pre>
  );
}

function splitSide(file: File, side: "ours" | "base" | "theirs"): string[] | null {
  const text = file[side];
  return text === null ? null : text.replace(/\n$/, "").split("\n");
}
