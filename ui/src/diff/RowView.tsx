import { memo } from "react";
import { Button } from "../parts/Button";
import { Writing, Written } from "./Comments";
import type { Draft } from "./comments";
import { FileHead } from "./FileHead";
import { type Commenting, SideBySide, Unified } from "./Lines";
import { plain } from "./pieces";
import styles from "./RowView.module.css";
import type { Row, Side } from "./rows";

/** What all rows are drawn with. */
export interface Drawing {
  readonly folded: ReadonlyMap<string, string>;
  readonly words: string;
  readonly commenting: Commenting | null;
  readonly draftKey: string | null;
  readonly draft: Draft;
  fold(path: string, on: boolean): void;
}

interface Props {
  row: Row;
  drawing: Drawing;
  chosen: Side | null;
  current: boolean;
}

export const RowView = memo(function RowView({ row, drawing, chosen, current }: Props) {
  const { words, commenting, draftKey, draft, folded, fold } = drawing;
  const common = { id: row.key, file: row.file, words, commenting, chosen, current };
  switch (row.kind) {
    case "file":
      return (
        <FileHead
          file={row.file}
          folded={folded.has(row.file.path)}
          comments={draft.comments.filter(({ path }) => path === row.file.path).length}
          onFold={fold}
        />
      );
    case "note":
      return (
        <p className={styles.note}>
          {row.text}
          {row.fold && (
            <Button
              kind="quiet"
              label={`Show it: ${plain(row.file.path)}`}
              onClick={() => fold(row.file.path, false)}
            >
              Show it
            </Button>
          )}
        </p>
      );
    case "hunk":
      return <p className={styles.hunk}>{plain(row.text)}</p>;
    case "line":
      return <Unified {...common} line={row.line} mate={row.mate} />;
    case "pair":
      return <SideBySide {...common} left={row.left} right={row.right} />;
    case "comment":
      return draftKey === null ? null : <Written draft={draftKey} comment={row.comment} />;
    case "writing":
      return draftKey === null || draft.writing === null ? null : (
        <Writing draft={draftKey} writing={draft.writing} />
      );
  }
});
