import { formatDiffstat, pluralize } from "../model/format";
import { Button } from "../parts/Button";
import { SegmentedControl } from "../parts/Choice";
import { Icon } from "../parts/Icon";
import { DiffFind } from "./Find";
import type { DiffMode } from "./rows";
import styles from "./Toolbar.module.css";
import type { useDiffFind } from "./useFind";

const VIEW_LABELS: Record<DiffMode, string> = { split: "Side by side", unified: "Unified" };

interface DiffToolbarProps {
  files: number;
  plus: number;
  minus: number;
  /** Which attempt's it is, where one is known. */
  attempt: number | null;
  view: DiffMode;
  /** Too narrow for two sides. */
  narrow: boolean;
  listShown: boolean;
  allFolded: boolean;
  find: ReturnType<typeof useDiffFind>;
  onView(view: DiffMode): void;
  onList(): void;
  onFoldAll(on: boolean): void;
}

export function DiffToolbar(props: DiffToolbarProps) {
  const { find, view, narrow } = props;
  return (
    <div className={styles.bar}>
      <Button kind="quiet" aria-expanded={props.listShown} onClick={props.onList}>
        {pluralize(props.files, "file")}
        <span className={styles.counts}>
          {formatDiffstat({ files: props.files, added: props.plus, removed: props.minus })}
        </span>
      </Button>
      {props.attempt !== null && <span className={styles.attempt}>attempt {props.attempt}</span>}
      <div className={styles.right}>
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
          <Button kind="quiet" icon label="Find in the change" onClick={() => find.search("")}>
            <Icon name="search" />
          </Button>
        )}
        <Button kind="quiet" onClick={() => props.onFoldAll(!props.allFolded)}>
          {props.allFolded ? "Unfold all" : "Fold all"}
        </Button>
        {!narrow && (
          <SegmentedControl
            legend="How the change is shown"
            options={VIEW_LABELS}
            selected={view}
            onSelect={props.onView}
          />
        )}
      </div>
    </div>
  );
}
