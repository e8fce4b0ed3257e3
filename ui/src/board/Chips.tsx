import { isNarrow, KIND_NAMES, KINDS, type Kind, toggled } from "../model/filter";
import { short } from "../model/format";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import styles from "./Chips.module.css";
import { clipped } from "./card";
import { clearFilter, setFilter, useView } from "./view";

/** A value of a filter as people read it. */
export function valueWords(kind: Kind, value: string): string {
  if (kind === "batch") return short(value);
  return kind === "status" ? value.replaceAll("_", " ") : clipped(value);
}

/** What the board is narrowed to: each can be taken back. */
export function Chips() {
  const filter = useView((store) => store.filter);
  const chips = KINDS.flatMap((kind) => filter.only[kind].map((value) => ({ kind, value })));
  if (!isNarrow(filter)) return null;
  return (
    <ul className={styles.chips} aria-label="Filters">
      {chips.map(({ kind, value }) => (
        <li key={`${kind} ${value}`}>
          <button
            type="button"
            className={styles.chip}
            aria-label={`Remove the filter ${KIND_NAMES[kind]}: ${valueWords(kind, value)}`}
            onClick={() => setFilter(toggled(filter, kind, value))}
          >
            <span className={styles.kind}>{KIND_NAMES[kind]}</span>
            <bdi className={styles.value}>{valueWords(kind, value)}</bdi>
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
