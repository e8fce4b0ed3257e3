import { changes, count } from "../model/format";
import { Button } from "../parts/Button";
import { Choice } from "../parts/Choice";
import { Icon } from "../parts/Icon";
import { Find } from "./Find";
import type { View } from "./rows";
import styles from "./Toolbar.module.css";
import type { useFind } from "./useFind";

const VIEWS: Record<View, string> = { split: "Side by side", unified: "Unified" };

interface Props {
  files: number;
  plus: number;
  minus: number;
  /** Which attempt's it is, where one is known. */
  attempt: number | null;
  view: View;
  /** Too narrow for two sides. */
  narrow: boolean;
  listed: boolean;
  allFolded: boolean;
  find: ReturnType<typeof useFind>;
  onView(view: View): void;
  onList(): void;
  onFoldAll(on: boolean): void;
}

export function Toolbar(props: Props) {
  const { find, view, narrow } = props;
  return (
    <div className={styles.bar}>
      <Button kind="quiet" aria-expanded={props.listed} onClick={props.onList}>
        {count(props.files, "file")}
        <span className={styles.counts}>
          {changes({ files: props.files, added: props.plus, removed: props.minus })}
        </span>
      </Button>
      {props.attempt !== null && <span className={styles.attempt}>attempt {props.attempt}</span>}
      <div className={styles.right}>
        {find.open ? (
          <Find
            words={find.words}
            total={find.found.length}
            at={find.at}
            onWords={find.look}
            onStep={find.step}
            onClose={() => find.look(null)}
          />
        ) : (
          <Button kind="quiet" icon label="Find in the change" onClick={() => find.look("")}>
            <Icon name="search" />
          </Button>
        )}
        <Button kind="quiet" onClick={() => props.onFoldAll(!props.allFolded)}>
          {props.allFolded ? "Unfold all" : "Fold all"}
        </Button>
        {!narrow && (
          <Choice legend="How the change is shown" options={VIEWS} chosen={view} onChoose={props.onView} />
        )}
      </div>
    </div>
  );
}
