import { count } from "../../model/format";
import { Button } from "../../parts/Button";
import { Icon } from "../../parts/Icon";
import { within } from "./Rows";
import styles from "./Transcript.module.css";
import type { Finder } from "./useFinder";
import type { View } from "./window";

interface Props {
  id: string;
  finder: Finder;
  view: View;
}

/** Finds words: what is loaded shows them at once, and Enter looks through all of it. */
export function FindBar({ id, finder, view }: Props) {
  const { words, share } = finder;
  return (
    <search className={styles.find}>
      <input
        id={id}
        type="search"
        className={styles.field}
        aria-label="Find in the log"
        placeholder="Find"
        value={words}
        maxLength={200}
        onChange={({ target }) => finder.type(target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") finder.go(!event.shiftKey);
          else if (event.key === "Escape" && words !== "") finder.type("");
          else return;
          event.preventDefault();
        }}
      />
      {words !== "" && (
        <>
          <Button kind="quiet" icon label="Match before" onClick={() => finder.go(false)}>
            <Icon name="up" />
          </Button>
          <Button kind="quiet" icon label="Next match" onClick={() => finder.go(true)}>
            <Icon name="down" />
          </Button>
          <span className={styles.found} role="status">
            {share === null
              ? (finder.note ?? loaded(view, words))
              : `Searching: ${Math.round(share * 100)} %`}
          </span>
          {share !== null && (
            <Button kind="quiet" onClick={finder.stop}>
              Stop
            </Button>
          )}
        </>
      )}
    </search>
  );
}

function loaded({ laid }: View, words: string): string {
  const found = laid.reduce((sum, { page }) => sum + within(page, words).length, 0);
  return found === 0
    ? "Not in what is loaded: Enter looks further"
    : `${count(found, "match", "matches")} loaded`;
}
