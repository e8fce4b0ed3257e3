import { useEffect, useRef } from "react";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import styles from "./Find.module.css";
import { MAX_MATCHES } from "./find";

interface DiffFindProps {
  query: string;
  /** How many lines hold them, and which of these is shown. */
  total: number;
  at: number;
  onQuery(query: string): void;
  onStep(step: 1 | -1): void;
  onClose(): void;
}

export function DiffFind({ query, total, at, onQuery, onStep, onClose }: DiffFindProps) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  return (
    <search className={styles.find}>
      <input
        ref={field}
        type="search"
        aria-label="Find in the change"
        placeholder="Find in the change"
        value={query}
        onChange={(event) => onQuery(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") onStep(event.shiftKey ? -1 : 1);
          else if (event.key === "Escape") onClose();
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <span className={styles.count} role="status">
        {query === "" ? "" : formatMatchCount(total, at)}
      </span>
      <Button kind="quiet" icon label="Previous line found" onClick={() => onStep(-1)}>
        <span className={styles.up}>
          <Icon name="chevron" />
        </span>
      </Button>
      <Button kind="quiet" icon label="Next line found" onClick={() => onStep(1)}>
        <span className={styles.down}>
          <Icon name="chevron" />
        </span>
      </Button>
      <Button kind="quiet" icon label="Stop finding" onClick={onClose}>
        <Icon name="close" />
      </Button>
    </search>
  );
}

function formatMatchCount(total: number, at: number): string {
  if (total === 0) return "Not found";
  const all =
    total === MAX_MATCHES ? `${MAX_MATCHES.toLocaleString("en")} or more` : total.toLocaleString("en");
  if (at < 0) return total === 1 ? "1 line" : `${all} lines`;
  return `${(at + 1).toLocaleString("en")} of ${all} lines`;
}
