/* A change with all that can be done with it: reading, finding, folding, commenting. */

import { useRef, useState } from "react";
import type { Diff } from "../api/types";
import { Button } from "../parts/Button";
import { sayError } from "../parts/Toasts";
import styles from "./Changes.module.css";
import { DraftBar } from "./DraftBar";
import { FileList } from "./FileList";
import { span } from "./pointing";
import { Sheet } from "./Sheet";
import { Toolbar } from "./Toolbar";
import { lineOf, type Reading, useChanges } from "./useChanges";
import { type Asked, useText } from "./useDiff";
import { setView } from "./view";
import { useWidth } from "./width";

const TWO_SIDES = 760; // px
const WITH_LIST = 1000; // px

interface Props {
  asked: Asked;
  diff: Diff;
  newestAttempt: number;
  reading: Reading;
}

export function Changes({ asked, diff, newestAttempt, reading }: Props) {
  const rest = useText(asked, diff);
  const root = useRef<HTMLDivElement>(null);
  const width = useWidth(root);
  const narrow = width < TWO_SIDES;
  const [listed, setListed] = useState<boolean | null>(null);
  const list = listed ?? width >= WITH_LIST;
  const change = useChanges({ asked, diff, text: rest.text, narrow, reading });
  const { files, rows, find, pointed, show, draftKey } = change;
  return (
    <div ref={root} className={styles.changes}>
      <Toolbar
        files={files.length}
        plus={diff.plus}
        minus={diff.minus}
        attempt={diff.attempt}
        view={change.view}
        narrow={narrow}
        listed={list}
        allFolded={change.allFolded}
        find={find}
        onView={setView}
        onList={() => setListed(!list)}
        onFoldAll={change.foldAll}
      />
      <div className={styles.body} data-narrow={width < WITH_LIST || undefined}>
        {list && (
          <FileList files={files} current={change.current} onGo={(file) => show({ file, line: null })} />
        )}
        <Sheet
          ref={change.sheet}
          rows={rows}
          width={width}
          drawing={change.drawing}
          chosen={span(rows, pointed)}
          side={pointed?.side ?? null}
          current={find.open ? change.wanted : null}
          onFile={change.setTop}
          onHand={change.letGo}
          onReading={(now) => {
            reading.current.sheet = now;
          }}
          onKeyDown={change.keyDown}
        />
      </div>
      {rest.cut && <Cut {...rest} read={rest.text !== diff.diff} />}
      {asked.taskId !== null && draftKey !== null && (
        <DraftBar
          batchId={asked.batchId}
          taskId={asked.taskId}
          draftKey={draftKey}
          draft={change.draft}
          attempt={newestAttempt}
          homeless={change.homeless}
          onGo={(comment) => {
            const line = lineOf(files, comment);
            if (line !== null) show(line);
          }}
        />
      )}
    </div>
  );
}

/** `read`: as far as can be. */
function Cut({ busy, more, read }: { busy: boolean; more(): Promise<void>; read: boolean }) {
  return (
    <div className={styles.cut}>
      <span>The change is long: not all of its text is here.</span>
      {!read && (
        <Button busy={busy} onClick={() => void more().catch((error) => sayError(error))}>
          Read the rest
        </Button>
      )}
    </div>
  );
}
