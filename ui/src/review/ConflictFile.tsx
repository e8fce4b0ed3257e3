/* One file of a conflict: what both sides agree on once, and where they do not, each side in its own words. */

import { useState } from "react";
import type { components } from "../api/schema";
import { pieces, plain } from "../diff/pieces";
import { count } from "../model/format";
import { Button } from "../parts/Button";
import styles from "./ConflictFile.module.css";
import { near, parts, type Shown } from "./markers";

type File = components["schemas"]["ConflictFile"];
const MOST = 400; // lines of one side

export function ConflictFile({ taskId, file }: { taskId: string; file: File }) {
  const [before, setBefore] = useState(false);
  const shown = file.merged === null ? null : near(parts(file.merged));
  const marked = shown?.some(({ kind }) => kind === "conflict") ?? false;
  const told = shown?.some((part) => part.kind === "conflict" && part.base !== null) ?? false;
  const by = file.touchedBy.length === 0 ? "" : `, last changed by ${file.touchedBy.join(", ")}`;
  const names = { ours: `On the batch branch${by}`, base: "Before both", theirs: `In ${taskId}` };
  return (
    <section className={styles.file} aria-label={`Conflict in ${plain(file.path)}`}>
      <header className={styles.head}>
        <h3 className={styles.path}>
          <bdi>{plain(file.path)}</bdi>
        </h3>
        <span className={styles.kind}>{file.kind}</span>
        {file.base !== null && (
          <Button kind="quiet" aria-pressed={before} onClick={() => setBefore(!before)}>
            What was before
          </Button>
        )}
      </header>
      {file.binary ? (
        <p className={styles.note}>A binary file: what it holds is not shown. {file.said}</p>
      ) : shown !== null && marked ? (
        <>
          {shown.map((part, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other name, and never move
            <PartView key={place} part={part} names={names} before={before && told} />
          ))}
          {before && !told && <Pane name={names.base} lines={linesOf(file, "base")} />}
        </>
      ) : (
        <>
          <p className={styles.note}>{file.said}</p>
          <div className={styles.sides}>
            <Pane name={names.ours} lines={linesOf(file, "ours")} cut={file.cut.includes("ours")} />
            {before && (
              <Pane name={names.base} lines={linesOf(file, "base")} cut={file.cut.includes("base")} />
            )}
            <Pane name={names.theirs} lines={linesOf(file, "theirs")} cut={file.cut.includes("theirs")} />
          </div>
        </>
      )}
    </section>
  );
}

interface PartProps {
  part: Shown;
  names: { ours: string; base: string; theirs: string };
  before: boolean;
}

function PartView({ part, names, before }: PartProps) {
  if (part.kind === "gap") return <p className={styles.gap}>{count(part.count, "line")} the same</p>;
  if (part.kind === "same") return <Text lines={part.lines} />;
  return (
    <div className={styles.sides}>
      <Pane name={names.ours} lines={part.ours} />
      {before && <Pane name={names.base} lines={part.base ?? []} />}
      <Pane name={names.theirs} lines={part.theirs} />
    </div>
  );
}

function Pane({
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
        <Text lines={lines} />
      )}
    </figure>
  );
}

function Text({ lines }: { lines: readonly string[] }) {
  const more = lines.length - MOST;
  return (
    <pre className={styles.text}>
      {lines.slice(0, MOST).map((line, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name, and never move
        <span key={place} className={styles.line}>
          {pieces(line.replace(/\r$/, ""))
            .map(({ text }) => text)
            .join("") || " "}
        </span>
      ))}
      {more > 0 && <span className={styles.gap}>{count(more, "more line")}</span>}
    </pre>
  );
}

function linesOf(file: File, side: "ours" | "base" | "theirs"): string[] | null {
  const text = file[side];
  return text === null ? null : text.replace(/\n$/, "").split("\n");
}
