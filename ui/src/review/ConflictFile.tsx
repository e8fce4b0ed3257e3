/* One file of a conflict: what both sides agree on once, and where they do not, each side in its own words. */

import { useState } from "react";
import type { components } from "../api/schema";
import { escapeSpecial, segmentLine } from "../diff/pieces";
import { pluralize } from "../model/format";
import { Button } from "../parts/Button";
import styles from "./ConflictFile.module.css";
import { collapseContext, parseConflicts, type VisiblePart } from "./markers";

type File = components["schemas"]["ConflictFile"];
const MAX_LINES = 400; // lines of one side

export function ConflictFile({ taskId, file }: { taskId: string; file: File }) {
  const [showBase, setShowBase] = useState(false);
  const parts = file.merged === null ? null : collapseContext(parseConflicts(file.merged));
  const hasConflict = parts?.some(({ kind }) => kind === "conflict") ?? false;
  const hasBase = parts?.some((part) => part.kind === "conflict" && part.base !== null) ?? false;
  const changedBy = file.touchedBy.length === 0 ? "" : `, last changed by ${file.touchedBy.join(", ")}`;
  const names = { ours: `On the batch branch${changedBy}`, base: "Before both", theirs: `In ${taskId}` };
  return (
    <section className={styles.file} aria-label={`Conflict in ${escapeSpecial(file.path)}`}>
      <header className={styles.head}>
        <h3 className={styles.path}>
          <bdi>{escapeSpecial(file.path)}</bdi>
        </h3>
        <span className={styles.kind}>{file.kind}</span>
        {file.base !== null && (
          <Button kind="quiet" aria-pressed={showBase} onClick={() => setShowBase(!showBase)}>
            What was before
          </Button>
        )}
      </header>
      {file.binary ? (
        <p className={styles.note}>A binary file: what it holds is not shown. {file.said}</p>
      ) : parts !== null && hasConflict ? (
        <>
          {parts.map((part, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other name, and never move
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
  if (part.kind === "gap") return <p className={styles.gap}>{pluralize(part.count, "line")} the same</p>;
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
        <p className={styles.note}>It is too long to be shown.</p>
      ) : lines === null ? (
        <p className={styles.note}>The file is not there.</p>
      ) : lines.length === 0 ? (
        <p className={styles.note}>Nothing.</p>
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
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name, and never move
        <span key={place} className={styles.line}>
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
