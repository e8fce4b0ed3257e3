import { useEffect, useRef } from "react";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import styles from "./Find.module.css";
import { MOST_MATCHES } from "./find";

interface Props {
  words: string;
  /** How many lines hold them, and which of these is shown. */
  total: number;
  at: number;
  onWords(words: string): void;
  onStep(step: 1 | -1): void;
  onClose(): void;
}

export function Find({ words, total, at, onWords, onStep, onClose }: Props) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  return (
    <search className={styles.find}>
      <input
        ref={field}
        type="search"
        aria-label="Find in the change"
        placeholder="Find in the change"
        value={words}
        onChange={(event) => onWords(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") onStep(event.shiftKey ? -1 : 1);
          else if (event.key === "Escape") onClose();
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <span className={styles.count} role="status">
        {words === "" ? "" : found(total, at)}
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

function found(total: number, at: number): string {
  if (total === 0) return "Not found";
  const all =
    total === MOST_MATCHES ? `${MOST_MATCHES.toLocaleString("en")} or more` : total.toLocaleString("en");
  if (at < 0) return total === 1 ? "1 line" : `${all} lines`;
  return `${(at + 1).toLocaleString("en")} of ${all} lines`;
}
