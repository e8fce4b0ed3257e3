/* A change with all that can be done with it: reading, finding, folding, commenting. */

import { useRef, useState } from "react";
import type { Diff } from "../api/types";
import { Button } from "../parts/Button";
import { showError } from "../parts/Toasts";
import styles from "./Changes.module.css";
import { DraftBar } from "./DraftBar";
import { FileList } from "./FileList";
import { selectedRange } from "./pointing";
import { DiffRowList } from "./Sheet";
import { DiffToolbar } from "./Toolbar";
import { commentLocation, type Reading, useDiffState } from "./useChanges";
import { type DiffTarget, useDiffText } from "./useDiff";
import { setDiffMode } from "./view";
import { useWidth } from "./width";

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
    <div ref={root} className={styles.changes}>
      <DiffToolbar
        files={files.length}
        plus={diff.plus}
        minus={diff.minus}
        attempt={diff.attempt}
        view={state.view}
        narrow={narrow}
        listShown={list}
        allFolded={state.allFolded}
        find={find}
        onView={setDiffMode}
        onList={() => setListToggled(!list)}
        onFoldAll={state.foldAll}
      />
      <div className={styles.body} data-narrow={width < FILE_LIST_MIN_WIDTH || undefined}>
        {list && (
          <FileList
            files={files}
            current={state.current}
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
          onSelect={(comment) => {
            const line = commentLocation(files, comment);
            if (line !== null) scrollTo(line);
          }}
        />
      )}
    </div>
  );
}

/** `read`: as far as can be. */
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
    <div className={styles.cut}>
      <span>The change is long: not all of its text is here.</span>
      {!exhausted && (
        <Button busy={busy} onClick={() => void loadMore().catch((error) => showError(error))}>
          Read the rest
        </Button>
      )}
    </div>
  );
}
