/* A diff with its toolbar, file list, search and comments. */

import { useRef, useState } from "react";
import type { Diff } from "../api/types";
import { Button } from "../components/Button";
import { useWidth } from "../components/hooks";
import { Icon } from "../components/Icon";
import { SegmentedControl } from "../components/SegmentedControl";
import { showError } from "../components/Toasts";
import { formatLineCounts, pluralize } from "../model/format";
import { startComment } from "./commentDrafts";
import { DiffFind, type useDiffFind } from "./DiffFind";
import styles from "./DiffPanel.module.css";
import { DiffRowList } from "./DiffRowList";
import { DraftBar } from "./DraftBar";
import type { DiffMode } from "./diffRows";
import { FileList } from "./FileList";
import { wholeChange } from "./feedback";
import { selectedRange } from "./lineSelection";
import { type DiffTarget, useDiffText } from "./useDiff";
import { type Reading, setDiffMode, useDiffState } from "./useDiffState";

const SPLIT_MIN_WIDTH = 760; // px
const FILE_LIST_MIN_WIDTH = 1000; // px

interface Props {
  target: DiffTarget;
  diff: Diff;
  newestAttempt: number;
  reading: Reading;
}

export function DiffPanel({ target, diff, newestAttempt, reading }: Props) {
  const textState = useDiffText(target, diff);
  const root = useRef<HTMLDivElement>(null);
  const width = useWidth(root);
  const narrow = width < SPLIT_MIN_WIDTH;
  const [listToggled, setListToggled] = useState<boolean | null>(null);
  const list = listToggled ?? width >= FILE_LIST_MIN_WIDTH;
  const state = useDiffState({ target, diff, text: textState.text, narrow, reading });
  const { files, rows, find, selection, scrollTo, draftKey } = state;
  return (
    <div ref={root} className={styles.panel}>
      <DiffToolbar
        files={files.length}
        plus={diff.plus}
        minus={diff.minus}
        attempt={diff.attempt}
        since={diff.since}
        resolution={diff.resolution}
        viewed={state.viewedCount}
        view={state.view}
        narrow={narrow}
        listShown={list}
        allFolded={state.allFolded}
        find={find}
        onComment={
          draftKey === null || state.context.commentTarget?.disabled !== null
            ? null
            : () => startComment(draftKey, wholeChange(diff.attempt ?? 0))
        }
        onView={setDiffMode}
        onList={() => setListToggled(!list)}
        onFoldAll={state.foldAll}
      />
      <div className={styles.body} data-narrow={width < FILE_LIST_MIN_WIDTH || undefined}>
        {list && (
          <FileList
            files={files}
            current={state.current}
            viewed={state.context.viewed}
            onSelect={(file) => scrollTo({ file, line: null })}
          />
        )}
        <DiffRowList
          ref={state.rowList}
          rows={rows}
          width={width}
          context={state.context}
          selectedRange={selectedRange(rows, selection)}
          side={selection?.side ?? null}
          current={find.open ? state.target : null}
          onFile={state.setTop}
          onUserScroll={state.clearTarget}
          onReading={(now) => {
            reading.current.sheet = now;
          }}
          onKeyDown={state.keyDown}
        />
      </div>
      {textState.truncated && <TruncatedNote {...textState} exhausted={textState.text !== diff.diff} />}
      {target.taskId !== null && draftKey !== null && (
        <DraftBar
          batchId={target.batchId}
          taskId={target.taskId}
          draftKey={draftKey}
          draft={state.draft}
          attempt={newestAttempt}
          detached={state.detached}
          onSelect={state.showComment}
        />
      )}
    </div>
  );
}

/** `read`: everything that can be loaded. */
function TruncatedNote({
  busy,
  loadMore,
  exhausted,
}: {
  busy: boolean;
  loadMore(): Promise<void>;
  exhausted: boolean;
}) {
  return (
    <div className={styles.truncated}>
      <span>This diff is long and only partly loaded.</span>
      {!exhausted && (
        <Button busy={busy} onClick={() => void loadMore().catch((error) => showError(error))}>
          Load the rest
        </Button>
      )}
    </div>
  );
}

const VIEW_LABELS: Record<DiffMode, string> = { split: "Side by side", unified: "Unified" };

interface DiffToolbarProps {
  files: number;
  plus: number;
  minus: number;
  /** The attempt it belongs to, if known. */
  attempt: number | null;
  /** The attempt that it is compared with. */
  since: number | null;
  /** It is what a person made of that attempt's change. */
  resolution: number | null;
  viewed: number;
  view: DiffMode;
  /** Too narrow for two sides. */
  narrow: boolean;
  listShown: boolean;
  allFolded: boolean;
  find: ReturnType<typeof useDiffFind>;
  /** Comments on the whole change. */
  onComment: (() => void) | null;
  onView(view: DiffMode): void;
  onList(): void;
  onFoldAll(on: boolean): void;
}

function DiffToolbar(props: DiffToolbarProps) {
  const { find, view, narrow } = props;
  return (
    <div className={styles.toolbar}>
      <Button kind="quiet" aria-expanded={props.listShown} onClick={props.onList}>
        {pluralize(props.files, "file")}
        <span className={styles.counts}>{formatLineCounts(props)}</span>
      </Button>
      {props.attempt !== null && (
        <span className={styles.attempt}>
          attempt {props.attempt}
          {props.since !== null && ` since attempt ${props.since}`}
          {props.resolution !== null && ", conflict resolved"}
        </span>
      )}
      {props.viewed > 0 && (
        <span className={styles.attempt}>
          {props.viewed} of {props.files} viewed
        </span>
      )}
      {props.onComment !== null && (
        <Button kind="quiet" onClick={props.onComment}>
          Comment
        </Button>
      )}
      <div className={styles.actions}>
        {find.open ? (
          <DiffFind
            query={find.query}
            total={find.matches.length}
            at={find.at}
            onQuery={find.search}
            onStep={find.step}
            onClose={() => find.search(null)}
          />
        ) : (
          <Button kind="quiet" icon label="Find in the diff" onClick={() => find.search("")}>
            <Icon name="search" />
          </Button>
        )}
        <Button kind="quiet" onClick={() => props.onFoldAll(!props.allFolded)}>
          {props.allFolded ? "Expand all" : "Collapse all"}
        </Button>
        {!narrow && (
          <SegmentedControl
            legend="Diff view"
            options={VIEW_LABELS}
            selected={view}
            onSelect={props.onView}
          />
        )}
      </div>
    </div>
  );
}
