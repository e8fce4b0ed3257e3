import { FILTER_KIND_NAMES, FILTER_KINDS, type FilterKind, isFiltering, toggleFilter } from "../model/filter";
import { shortId } from "../model/format";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import styles from "./Chips.module.css";
import { truncate } from "./card";
import { clearFilter, setFilter, useViewSettings } from "./view";

/** A value of a filter as people read it. */
export function formatFilterValue(kind: FilterKind, value: string): string {
  if (kind === "batch") return shortId(value);
  return kind === "status" ? value.replaceAll("_", " ") : truncate(value);
}

/** What the board is narrowed to: each can be taken back. */
export function FilterChips() {
  const filter = useViewSettings((store) => store.filter);
  const chips = FILTER_KINDS.flatMap((kind) => filter.only[kind].map((value) => ({ kind, value })));
  if (!isFiltering(filter)) return null;
  return (
    <ul className={styles.chips} aria-label="Filters">
      {chips.map(({ kind, value }) => (
        <li key={`${kind} ${value}`}>
          <button
            type="button"
            className={styles.chip}
            aria-label={`Remove the filter ${FILTER_KIND_NAMES[kind]}: ${formatFilterValue(kind, value)}`}
            onClick={() => setFilter(toggleFilter(filter, kind, value))}
          >
            <span className={styles.kind}>{FILTER_KIND_NAMES[kind]}</span>
            <bdi className={styles.value}>{formatFilterValue(kind, value)}</bdi>
            <Icon name="close" size={12} />
          </button>
        </li>
      ))}
      <li>
        <Button kind="quiet" onClick={clearFilter}>
          Show all
        </Button>
      </li>
    </ul>
  );
}
