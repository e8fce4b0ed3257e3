import { KIND_NAMES, type Kind } from "./kinds";
import styles from "./Legend.module.css";

interface Props {
  /** Those that the graph has. */
  kinds: readonly Kind[];
  hidden: ReadonlySet<Kind>;
  longest: boolean;
  toggle(kind: Kind): void;
}

/** What the lines mean; each kind can be hidden. */
export function Legend({ kinds, hidden, longest, toggle }: Props) {
  if (kinds.length === 0) return null;
  return (
    <fieldset className={styles.legend}>
      <legend className="unseen">Lines</legend>
      {kinds.map((kind) => (
        <button
          key={kind}
          type="button"
          className={styles.kind}
          aria-pressed={!hidden.has(kind)}
          title={hidden.has(kind) ? "Show these lines" : "Hide these lines"}
          onClick={() => toggle(kind)}
        >
          <Sample kind={kind} />
          {KIND_NAMES[kind]}
        </button>
      ))}
      {longest && (
        <span className={styles.path}>
          <Sample kind="need" critical />
          Longest path
        </span>
      )}
    </fieldset>
  );
}

function Sample({ kind, critical = false }: { kind: Kind; critical?: boolean }) {
  return (
    <svg
      className={styles.sample}
      data-kind={kind}
      data-critical={critical || undefined}
      width="24"
      height="8"
      aria-hidden="true"
    >
      <path d={kind === "file" ? "M1 4h22" : "M1 4h18M18 1.5l4 2.5-4 2.5z"} />
    </svg>
  );
}
