import { pluralize } from "../../model/format";
import { Button } from "../../parts/Button";
import { Icon } from "../../parts/Icon";
import { pageMatches } from "./Rows";
import styles from "./Transcript.module.css";
import type { TranscriptSearch } from "./useFinder";
import type { WindowView } from "./window";

interface TranscriptFindProps {
  id: string;
  finder: TranscriptSearch;
  view: WindowView;
}

/** Finds words: what is loaded shows them at once, and Enter looks through all of it. */
export function TranscriptFind({ id, finder, view }: TranscriptFindProps) {
  const { query, progress } = finder;
  return (
    <search className={styles.find}>
      <input
        id={id}
        type="search"
        className={styles.field}
        aria-label="Find in the log"
        placeholder="Find"
        value={query}
        maxLength={200}
        onChange={({ target }) => finder.setQuery(target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") finder.findNext(!event.shiftKey);
          else if (event.key === "Escape" && query !== "") finder.setQuery("");
          else return;
          event.preventDefault();
        }}
      />
      {query !== "" && (
        <>
          <Button kind="quiet" icon label="Match before" onClick={() => finder.findNext(false)}>
            <Icon name="up" />
          </Button>
          <Button kind="quiet" icon label="Next match" onClick={() => finder.findNext(true)}>
            <Icon name="down" />
          </Button>
          <span className={styles.found} role="status">
            {progress === null
              ? (finder.note ?? describeLoaded(view, query))
              : `Searching: ${Math.round(progress * 100)} %`}
          </span>
          {progress !== null && (
            <Button kind="quiet" onClick={finder.stop}>
              Stop
            </Button>
          )}
        </>
      )}
    </search>
  );
}

function describeLoaded({ pageRows }: WindowView, query: string): string {
  const found = pageRows.reduce((sum, { page }) => sum + pageMatches(page, query).length, 0);
  return found === 0
    ? "Not in what is loaded: Enter looks further"
    : `${pluralize(found, "match", "matches")} loaded`;
}
