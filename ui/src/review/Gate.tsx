/* The gate of a batch: its state, earlier runs and output. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useId, useLayoutEffect, useRef, useState } from "react";
import { api, unwrap } from "../api/client";
import type { Batch, Timeline } from "../api/types";
import { Button } from "../components/Button";
import { ErrorState, LoadingState } from "../components/EmptyState";
import { Icon } from "../components/Icon";
import { pluralize, spellOutBidi } from "../model/format";
import styles from "./Gate.module.css";
import { gateStatus, listGates, type NumberedGate } from "./reviewGroups";
import { Section } from "./Section";

const OUTPUT_POLL_MS = 2000; // ms between two requests while it runs

interface Props {
  batchId: string;
  gate: number;
  /** For screen readers: which gate's output the button shows. */
  named?: boolean;
  /** The output's accessible name: the same output may also be shown elsewhere. */
  name?: string;
}

/** The output of a gate run, loaded on demand. */
export function GateOutput({ batchId, gate, named = false, name = `Output of gate ${gate}` }: Props) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const label = open ? "Hide output" : "Show output";
  return (
    <div className={styles.output}>
      <Button
        {...(named && { label: `${label} of gate ${gate}` })}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {label}
      </Button>
      {open && (
        <div id={id} className={styles.outputPanel}>
          <GateOutputText batchId={batchId} gate={gate} name={name} />
        </div>
      )}
    </div>
  );
}

function GateOutputText({ batchId, gate, name }: { batchId: string; gate: number; name: string }) {
  const [bytes, setBytes] = useState(TAIL_BYTES);
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ["gate", batchId, gate, bytes],
    queryFn: () => fetchGateLog(batchId, gate, bytes),
    placeholderData: keepPreviousData,
    staleTime: ({ state }) => (state.data?.ended ? Number.POSITIVE_INFINITY : 0),
    refetchInterval: ({ state }) => (state.data?.ended || state.error ? false : OUTPUT_POLL_MS),
  });
  const failure = error && <ErrorState error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return failure ?? <LoadingState what="Loading gate output" />;
  return (
    <>
      {data.text === "" ? (
        <p className={styles.muted}>{data.ended ? "No output." : "No output yet."}</p>
      ) : (
        <ScrolledText text={data.text} name={name} />
      )}
      {data.cut && bytes < MAX_BYTES && (
        <Button kind="quiet" busy={isFetching} onClick={() => setBytes(MAX_BYTES)}>
          Show earlier output
        </Button>
      )}
      {failure}
    </>
  );
}

/** Scrolls to the end as output arrives, unless the reader scrolled up. */
function ScrolledText({ text, name }: { text: string; name: string }) {
  const box = useRef<HTMLElement>(null);
  const atEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: its height depends on the text
  useLayoutEffect(() => {
    if (box.current !== null && atEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  return (
    <section
      ref={box}
      className={styles.outputText}
      aria-label={name}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keyboard
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
        atEnd.current = scrollTop + clientHeight >= scrollHeight - 2;
      }}
    >
      <pre>{text}</pre>
    </section>
  );
}

const GATE_ICONS = {
  none: "stop",
  never: "pause",
  running: "play",
  passed: "check",
  failed: "close",
} as const;

/** The command that must pass on the merged result, and its runs, newest first. */
export function GateSection({ batch, timeline }: { batch: Batch; timeline: Timeline | undefined }) {
  const { state, text: summary, detail } = gateStatus(batch, timeline);
  if (state === "none") return null;
  const [newest, ...earlier] = listGates(timeline);
  return (
    <Section title="Gate" aside={<code>{spellOutBidi(batch.settings.gate ?? "")}</code>}>
      <div className={styles.gate} data-state={state}>
        <p className={styles.summary}>
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
      <summary>{pluralize(gates.length, "earlier gate run")}</summary>
      <ul aria-label="Earlier gate runs, newest first">
        {gates.map(({ n, result }) => (
          <li key={n} className={styles.earlierGate} data-state={result}>
            <p className={styles.summary}>
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

const TAIL_BYTES = 256 << 10; // bytes at first
const MAX_BYTES = 8 << 20; // as many as the server sends at once

interface GateLog {
  readonly text: string;
  /** There is earlier output. */
  readonly cut: boolean;
  /** The output is complete. */
  readonly ended: boolean;
}

async function fetchGateLog(batchId: string, gate: number, bytes: number): Promise<GateLog> {
  const answer = await api.GET("/api/batches/{batch_id}/log", {
    params: { path: { batch_id: batchId }, query: { gate, from: -bytes, limit: bytes } },
    parseAs: "text",
  });
  const text = (await unwrap(Promise.resolve(answer))) ?? "";
  const { headers } = answer.response;
  const cut = Number(headers.get("Plait-Offset")) > 0;
  return { text: cut ? dropPartialLine(text) : text, cut, ended: headers.get("Plait-Ended") === "true" };
}

/** Without the rest of a line that began earlier, unless that is everything. */
export function dropPartialLine(text: string): string {
  const end = text.indexOf("\n") + 1;
  return end === text.length ? text : text.slice(end);
}
