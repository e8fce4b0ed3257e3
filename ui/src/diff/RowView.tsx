import { memo } from "react";
import { Button } from "../parts/Button";
import { CommentForm, SavedComment } from "./Comments";
import type { CommentDraft } from "./comments";
import { FileHeader } from "./FileHead";
import { type CommentTarget, SplitLine, UnifiedLine } from "./Lines";
import { escapeSpecial } from "./pieces";
import styles from "./RowView.module.css";
import type { Row, Side } from "./rows";

/** What all rows are drawn with. */
export interface RowContext {
  readonly folded: ReadonlyMap<string, string>;
  readonly query: string;
  readonly commentTarget: CommentTarget | null;
  readonly draftKey: string | null;
  readonly draft: CommentDraft;
  fold(path: string, on: boolean): void;
}

interface Props {
  row: Row;
  context: RowContext;
  selected: Side | null;
  current: boolean;
}

export const DiffRow = memo(function RowView({ row, context, selected, current }: Props) {
  const { query, commentTarget, draftKey, draft, folded, fold } = context;
  const common = { id: row.key, file: row.file, query, commentTarget, selected, current };
  switch (row.kind) {
    case "file":
      return (
        <FileHeader
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
              label={`Show it: ${escapeSpecial(row.file.path)}`}
              onClick={() => fold(row.file.path, false)}
            >
              Show it
            </Button>
          )}
        </p>
      );
    case "hunk":
      return <p className={styles.hunk}>{escapeSpecial(row.text)}</p>;
    case "line":
      return <UnifiedLine {...common} line={row.line} counterpart={row.counterpart} />;
    case "pair":
      return <SplitLine {...common} left={row.left} right={row.right} />;
    case "comment":
      return draftKey === null ? null : <SavedComment draft={draftKey} comment={row.comment} />;
    case "writing":
      return draftKey === null || draft.writing === null ? null : (
        <CommentForm draft={draftKey} writing={draft.writing} />
      );
  }
});
