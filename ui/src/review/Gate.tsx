import type { Batch, Timeline } from "../api/types";
import { GateOutput } from "../gate/GateOutput";
import { pluralize } from "../model/format";
import { Icon } from "../parts/Icon";
import styles from "./Gate.module.css";
import { gateStatus, listGates, type NumberedGate } from "./order";
import { Section } from "./Section";

const GATE_ICONS = {
  none: "stop",
  never: "pause",
  running: "play",
  passed: "check",
  failed: "close",
} as const;

/** The command that must pass on the merged result, and what it said, the last time first. */
export function GateSection({ batch, timeline }: { batch: Batch; timeline: Timeline | undefined }) {
  const { state, text: summary, detail } = gateStatus(batch, timeline);
  if (state === "none") return <p className={styles.none}>{summary}</p>;
  const [newest, ...earlier] = listGates(timeline);
  return (
    <Section title="Gate" aside={<code>{batch.settings.gate}</code>}>
      <div className={styles.gate} data-state={state}>
        <p className={styles.words}>
          <Icon name={GATE_ICONS[state]} />
          {summary}
        </p>
        {detail && <pre className={styles.detail}>{detail}</pre>}
        {newest && <GateOutput key={newest.n} batchId={batch.id} gate={newest.n} />}
        {earlier.length > 0 && <EarlierGates batchId={batch.id} gates={earlier} />}
      </div>
    </Section>
  );
}

function EarlierGates({ batchId, gates }: { batchId: string; gates: readonly NumberedGate[] }) {
  return (
    <details className={styles.earlier}>
      <summary>{pluralize(gates.length, "gate")} before it</summary>
      <ul aria-label="Gates before it, newest first">
        {gates.map(({ n, result }) => (
          <li key={n} className={styles.before} data-state={result}>
            <p className={styles.words}>
              <Icon name={GATE_ICONS[result]} />
              Gate {n}: {result}
            </p>
            <GateOutput batchId={batchId} gate={n} named />
          </li>
        ))}
      </ul>
    </details>
  );
}
