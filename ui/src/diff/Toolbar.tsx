import { useId } from "react";
import { changes, count } from "../model/format";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { Find } from "./Find";
import type { View } from "./rows";
import styles from "./Toolbar.module.css";
import type { useFind } from "./useFind";

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
  const group = useId();
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
          <fieldset className={styles.choice}>
            <legend className="unseen">How the change is shown</legend>
            {(["split", "unified"] as const).map((each) => (
              <label key={each} className={styles.option}>
                <input
                  type="radio"
                  name={group}
                  checked={view === each}
                  onChange={() => props.onView(each)}
                />
                {each === "split" ? "Side by side" : "Unified"}
              </label>
            ))}
          </fieldset>
        )}
      </div>
    </div>
  );
}
