import { EDGE_KIND_NAMES, type EdgeKind } from "./kinds";
import styles from "./Legend.module.css";

interface LegendProps {
  /** Those that the graph has. */
  kinds: readonly EdgeKind[];
  hidden: ReadonlySet<EdgeKind>;
  showCriticalPath: boolean;
  toggle(kind: EdgeKind): void;
}

/** What the lines mean; each kind can be hidden. */
export function Legend({ kinds, hidden, showCriticalPath, toggle }: LegendProps) {
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
          <LineSample kind={kind} />
          {EDGE_KIND_NAMES[kind]}
        </button>
      ))}
      {showCriticalPath && (
        <span className={styles.path}>
          <LineSample kind="need" critical />
          Longest path
        </span>
      )}
    </fieldset>
  );
}

function LineSample({ kind, critical = false }: { kind: EdgeKind; critical?: boolean }) {
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
