/* One row of a diff: a file header, hunk header, line, pair of lines or comment. The sign tells added from removed,
   not only the colour. */

import { memo } from "react";
import { useOpenTask } from "../app/routes";
import { Button } from "../components/Button";
import { Icon, type IconName } from "../components/Icon";
import { copyToClipboard } from "../components/Toasts";
import { formatLineCounts } from "../model/format";
import { CommentForm, SavedComment } from "./CommentForm";
import type { CommentDraft } from "./commentDrafts";
import styles from "./DiffRow.module.css";
import type { Row, RowKey, Side } from "./diffRows";
import { type Direction, expansions, findGaps, type Gap, type LineRange } from "./hiddenLines";
import type { SyntaxRange } from "./highlight";
import { ImageDiff } from "./ImageDiff";
import { findRanges } from "./lineMatches";
import { escapeSpecial, MAX_LINE_LENGTH, segmentLine } from "./lineSegments";
import type { FileChange, Line } from "./parseDiff";
import type { DiffTarget } from "./useDiff";
import type { HiddenLines } from "./useHiddenLines";
import { viewedKey } from "./viewedFiles";
import { diffWords } from "./wordDiff";

const SIGNS = { same: " ", added: "+", removed: "−" } as const;

/** `null`: no comments here. `disabled`: why commenting isn't possible now. */
export interface CommentTarget {
  readonly disabled: string | null;
  select(key: RowKey, side: Side, extend: boolean): void;
  drag(from: RowKey, to: RowKey, side: Side): void;
  endDrag(): void;
}

interface LineProps {
  id: RowKey;
  file: FileChange;
  query: string;
  syntax: RowContext["syntax"];
  commentTarget: CommentTarget | null;
  /** The selected sides: at the cursor, or in the range. */
  selected: Side | "both" | null;
  current: boolean;
}

const UnifiedLine = memo(function UnifiedLine({
  line,
  counterpart,
  ...rest
}: LineProps & { line: Line; counterpart: Line | null }) {
  const side: Side = line.kind === "removed" ? "old" : "new";
  return (
    <div
      className={styles.unified}
      data-kind={line.kind}
      data-chosen={rest.selected !== null || undefined}
      data-current={rest.current || undefined}
    >
      {line.kind === "removed" ? (
        <LineNumber {...rest} n={line.old} side={side} />
      ) : (
        <span className={styles.number}>{line.old || ""}</span>
      )}
      {line.kind === "removed" ? (
        <span className={styles.number} />
      ) : (
        <LineNumber {...rest} n={line.new} side={side} />
      )}
      <Sign line={line} />
      <LineText
        line={line}
        counterpart={counterpart}
        query={rest.query}
        syntax={rest.syntax(rest.file, line)}
      />
    </div>
  );
});

const SplitLine = memo(function SplitLine({
  left,
  right,
  ...rest
}: LineProps & { left: Line | null; right: Line | null }) {
  return (
    <div className={styles.split} data-current={rest.current || undefined}>
      <SplitSide {...rest} side="old" line={left} counterpart={right} />
      <SplitSide {...rest} side="new" line={right} counterpart={left} />
    </div>
  );
});

function SplitSide({
  line,
  counterpart,
  side,
  ...rest
}: LineProps & { line: Line | null; counterpart: Line | null; side: Side }) {
  if (line === null) return <div className={styles.splitSide} data-kind="none" />;
  const isSelected = rest.selected === side || rest.selected === "both";
  return (
    <div
      className={styles.splitSide}
      data-kind={line.kind}
      data-side={side}
      data-chosen={isSelected || undefined}
    >
      <LineNumber {...rest} n={line[side]} side={side} />
      <Sign line={line} />
      <LineText
        line={line}
        counterpart={counterpart}
        query={rest.query}
        syntax={rest.syntax(rest.file, line)}
      />
    </div>
  );
}

function Sign({ line }: { line: Line }) {
  return <span className={styles.sign}>{SIGNS[line.kind]}</span>;
}

/**
 * A line number; a click on it comments. It isn't in the tab order: with the keyboard, j and k select lines.
 */
function LineNumber({ id, file, commentTarget, n, side }: LineProps & { n: number; side: Side }) {
  if (commentTarget === null || n === 0) return <span className={styles.number}>{n || ""}</span>;
  return (
    <button
      type="button"
      className={styles.number}
      tabIndex={-1}
      aria-label={`Comment on ${side === "old" ? "old line" : "line"} ${n} of ${escapeSpecial(file.path)}`}
      aria-disabled={commentTarget.disabled !== null || undefined}
      title={commentTarget.disabled ?? "Comment (drag or Shift+click for a range)"}
      data-comment={commentTarget.disabled === null ? side : undefined}
      onClick={(event) => commentTarget.disabled === null && commentTarget.select(id, side, event.shiftKey)}
    >
      {n}
    </button>
  );
}

/** What all rows need for rendering. */
export interface RowContext {
  readonly target: DiffTarget;
  readonly hiddenLines: HiddenLines;
  readonly folded: ReadonlyMap<string, string>;
  readonly query: string;
  /** The keywords, strings and so on of a line. */
  syntax(file: FileChange, line: Line): readonly SyntaxRange[];
  readonly viewed: ReadonlySet<string>;
  setViewed(file: FileChange, on: boolean): void;
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

export const DiffRow = memo(function DiffRow({ row, context, selected, current }: Props) {
  const { query, syntax, commentTarget, draftKey, draft, folded, fold } = context;
  const common = { id: row.key, file: row.file, query, syntax, commentTarget, selected, current };
  switch (row.kind) {
    case "file":
      return (
        <FileHeader
          file={row.file}
          folded={folded.has(row.file.path)}
          comments={draft.comments.filter(({ path }) => path === row.file.path).length}
          onFold={fold}
          hiddenLines={context.hiddenLines}
          batchId={context.target.batchId}
          viewed={context.viewed.has(viewedKey(row.file))}
          onView={context.setViewed}
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
      return <HunkHeader file={row.file} text={row.text} gap={row.gap} hiddenLines={context.hiddenLines} />;
    case "image":
      return <ImageDiff target={context.target} file={row.file} />;
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

interface HunkHeaderProps {
  file: FileChange;
  text: string;
  gap: Gap | null;
  hiddenLines: HiddenLines;
}

const EXPAND_ICONS: Record<Direction, IconName> = { down: "expandDown", up: "expandUp", all: "expandAll" };

/** The place of a hunk, with buttons that show the lines above it. */
function HunkHeader({ file, text, gap, hiddenLines }: HunkHeaderProps) {
  return (
    <div className={styles.hunk}>
      {gap !== null &&
        expansions(gap).map(({ direction, from, to }) => (
          <Button
            key={direction}
            kind="quiet"
            icon
            className={styles.expand}
            label={`Show ${formatRange(gap, { from, to })} of ${escapeSpecial(file.path)}`}
            busy={hiddenLines.loading.has(viewedKey(file))}
            onClick={() => hiddenLines.show(file, { from, to })}
          >
            <Icon name={EXPAND_ICONS[direction]} />
          </Button>
        ))}
      <span className={styles.hunkText}>{escapeSpecial(text)}</span>
    </div>
  );
}

function formatRange(gap: Gap, { from, to }: LineRange): string {
  if (gap.to === Number.POSITIVE_INFINITY) return `lines from ${from} on`;
  return from === to ? `line ${from}` : `lines ${from} to ${to}`;
}

const STATUS_LABELS = {
  added: "new",
  deleted: "deleted",
  renamed: "renamed",
  copied: "copied",
  modified: null,
} as const;

interface FileHeaderProps {
  file: FileChange;
  folded: boolean;
  comments: number;
  hiddenLines: HiddenLines;
  batchId: string;
  onFold(path: string, on: boolean): void;
  viewed: boolean;
  onView(file: FileChange, on: boolean): void;
}

/** Sticky while its file is visible. */
function FileHeader({
  file,
  folded,
  comments,
  hiddenLines,
  batchId,
  onFold,
  viewed,
  onView,
}: FileHeaderProps) {
  const name = escapeSpecial(file.path);
  const hasHidden = !folded && findGaps(file).some((gap) => gap !== null);
  const isExpanded = !folded && file.length !== null;
  const label = STATUS_LABELS[file.status];
  return (
    <div className={styles.fileHeader}>
      <h3 className={styles.name}>
        <button
          type="button"
          className={styles.fold}
          aria-expanded={!folded}
          onClick={() => onFold(file.path, !folded)}
        >
          <span className={styles.chevron}>
            <Icon name="chevron" size={14} />
          </span>
          <bdi className={styles.path}>
            {file.before !== null && <span className={styles.oldPath}>{escapeSpecial(file.before)} → </span>}
            {name}
          </bdi>
        </button>
      </h3>
      <TaskLinks file={file} batchId={batchId} />
      {label !== null && <span className={styles.label}>{label}</span>}
      {file.mode !== null && <span className={styles.label}>mode {file.mode}</span>}
      {comments > 0 && (
        <span className={styles.label}>{comments === 1 ? "1 comment" : `${comments} comments`}</span>
      )}
      <span className={styles.counts}>{file.binary ? "binary" : formatLineCounts(file)}</span>
      {(hasHidden || isExpanded) && (
        <Button
          kind="quiet"
          icon
          label={`${hasHidden ? "Show all lines" : "Show only the changes"} of ${name}`}
          busy={hiddenLines.loading.has(viewedKey(file))}
          onClick={() =>
            hasHidden
              ? hiddenLines.show(file, { from: 1, to: Number.POSITIVE_INFINITY })
              : hiddenLines.hide(file)
          }
        >
          <Icon name={hasHidden ? "expandAll" : "collapseAll"} size={14} />
        </Button>
      )}
      <Button
        kind="quiet"
        icon
        label={`Copy the path of ${name}`}
        onClick={() => void copyToClipboard(file.path, "the path")}
      >
        <Icon name="copy" size={14} />
      </Button>
      <label className={styles.viewed}>
        <input type="checkbox" checked={viewed} onChange={({ target }) => onView(file, target.checked)} />
        Viewed
      </label>
    </div>
  );
}

const MAX_TASK_LINKS = 3;

/** In the diff of a batch: to the tasks that changed the file, whose diffs can be commented on. */
function TaskLinks({ file, batchId }: { file: FileChange; batchId: string }) {
  const [, openTask] = useOpenTask();
  const more = file.tasks.length - MAX_TASK_LINKS;
  return (
    <>
      {file.tasks.slice(0, MAX_TASK_LINKS).map((task) => (
        <Button
          key={task}
          kind="quiet"
          className={styles.task}
          title={`Open the diff of ${escapeSpecial(task)}, to comment on it`}
          onClick={() => openTask({ task, batch: batchId, tab: "diff" })}
        >
          <bdi>{escapeSpecial(task)}</bdi>
        </Button>
      ))}
      {more > 0 && <span className={styles.counts}>and {more} more</span>}
    </>
  );
}

const NO_RANGES: never[] = [];

interface LineTextProps {
  line: Line;
  /** The line on the other side, for word differences. */
  counterpart: Line | null;
  /** The search text. */
  query: string;
  syntax: readonly SyntaxRange[];
}

/** The text of a line; never interpreted as markup. */
const LineText = memo(function LineText({ line, counterpart, query, syntax }: LineTextProps) {
  const changed =
    counterpart === null || line.kind === "same"
      ? NO_RANGES
      : line.kind === "removed"
        ? diffWords(line.text, counterpart.text).old
        : diffWords(counterpart.text, line.text).new;
  const matched = query === "" ? NO_RANGES : findRanges(line.text, query);
  return (
    <span className={styles.lineText}>
      {segmentLine(line.text, changed, matched, syntax).map((segment, index) =>
        segment.changed || segment.matched || segment.special || segment.syntax ? (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: segments have no other key, and never move
            key={index}
            className={styles.segment}
            data-marked={segment.changed || undefined}
            data-found={segment.matched || undefined}
            data-odd={segment.special || undefined}
            data-syntax={segment.syntax ?? undefined}
          >
            {segment.text}
          </span>
        ) : (
          segment.text
        ),
      )}
      {line.text.length > MAX_LINE_LENGTH && (
        <span className={styles.lineNote}>
          {" "}
          … {(line.text.length - MAX_LINE_LENGTH).toLocaleString("en")} more characters
        </span>
      )}
      {line.endsWithCr && line.kind !== "same" && (
        <span className={styles.lineNote} title="This line ends with a carriage return">
          ␍
        </span>
      )}
      {line.noNewline && <span className={styles.lineNote}> no newline at end of file</span>}
    </span>
  );
});
