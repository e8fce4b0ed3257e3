/* A change with all that can be done with it: reading, finding, folding, commenting. */

import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Diff } from "../api/types";
import { useMayNot } from "../app/me";
import { Button } from "../parts/Button";
import { sayError } from "../parts/Toasts";
import styles from "./Changes.module.css";
import type { FileChange } from "./change";
import type { Comment } from "./comments";
import { DraftBar } from "./DraftBar";
import { FileList } from "./FileList";
import type { Match } from "./find";
import { span, usePointing } from "./pointing";
import type { Drawing } from "./RowView";
import { Sheet, type SheetHandle } from "./Sheet";
import { useShowing } from "./showing";
import { Toolbar } from "./Toolbar";
import { useChangeKeys } from "./useChangeKeys";
import { type Asked, useText } from "./useDiff";
import { useDraftRows } from "./useDraftRows";
import { useFind } from "./useFind";
import { useFolding } from "./useFolding";
import { setView, useView } from "./view";
import { whole } from "./whole";
import { useWidth } from "./width";

const TWO_SIDES = 760; // px
const WITH_LIST = 1000; // px

interface Props {
  asked: Asked;
  diff: Diff;
  newestAttempt: number;
  /** Whoever reads or writes keeps what is there. */
  reading: RefObject<{ sheet: boolean; writing: boolean }>;
}

export function Changes({ asked, diff, newestAttempt, reading }: Props) {
  const { text, cut, busy, more } = useText(asked, diff);
  const files = useMemo(() => whole(diff, text), [diff, text]);
  const { folded, fold, foldAll } = useFolding(files);
  const root = useRef<HTMLDivElement>(null);
  const width = useWidth(root);
  const narrow = width < TWO_SIDES;
  const liked = useView((store) => store.view);
  const view = narrow ? "unified" : liked;
  const [listed, setListed] = useState<boolean | null>(null);
  const [top, setTop] = useState<FileChange | undefined>(undefined);

  const attempt = diff.attempt ?? 0;
  const { draftKey, draft, writing, homeless, rows } = useDraftRows(asked, attempt, files, view, folded);

  const sheet = useRef<SheetHandle>(null);
  const { show, wanted, goal, letGo } = useShowing(rows, sheet, folded, fold);
  const find = useFind(
    files,
    useCallback((match: Match) => show({ file: match.file, line: match.line }), [show]),
  );
  const pointing = usePointing(rows, draftKey, attempt);
  const mayNot = useMayNot();
  const commenting = useMemo(
    () => (draftKey === null ? null : { disabled: mayNot, point: pointing.point }),
    [draftKey, mayNot, pointing.point],
  );
  const drawing: Drawing = useMemo(
    () => ({ folded, words: find.open ? find.looked : "", commenting, draftKey, draft, fold }),
    [folded, find.open, find.looked, commenting, draftKey, draft, fold],
  );
  useEffect(() => {
    reading.current.writing = writing;
  }, [writing, reading]);
  const current = goal ?? top;
  const keyDown = useChangeKeys({ files, current, show, view, narrow, find, pointing, commenting, sheet });
  const goTo = (comment: Comment) => {
    const file = files.find(({ path }) => path === comment.path);
    if (file !== undefined) show({ file, line: { side: comment.side, n: comment.to } });
  };
  const list = listed ?? width >= WITH_LIST;
  return (
    <div ref={root} className={styles.changes}>
      <Toolbar
        files={files.length}
        plus={diff.plus}
        minus={diff.minus}
        attempt={diff.attempt}
        view={view}
        narrow={narrow}
        listed={list}
        allFolded={folded.size === files.length}
        find={find}
        onView={setView}
        onList={() => setListed(!list)}
        onFoldAll={foldAll}
      />
      <div className={styles.body} data-narrow={width < WITH_LIST || undefined}>
        {list && <FileList files={files} current={current} onGo={(file) => show({ file, line: null })} />}
        <Sheet
          ref={sheet}
          rows={rows}
          width={width}
          drawing={drawing}
          chosen={span(rows, pointing.pointed)}
          side={pointing.pointed?.side ?? null}
          current={find.open ? wanted : null}
          onFile={setTop}
          onHand={letGo}
          onReading={(now) => {
            reading.current.sheet = now;
          }}
          onKeyDown={keyDown}
        />
      </div>
      {cut && (
        <div className={styles.cut}>
          <span>The change is long: not all of its text is here.</span>
          {text === diff.diff && (
            <Button busy={busy} onClick={() => void more().catch((error) => sayError(error))}>
              Read the rest
            </Button>
          )}
        </div>
      )}
      {asked.taskId !== null && draftKey !== null && (
        <DraftBar
          batchId={asked.batchId}
          taskId={asked.taskId}
          draftKey={draftKey}
          draft={draft}
          attempt={newestAttempt}
          homeless={homeless}
          onGo={goTo}
        />
      )}
    </div>
  );
}
