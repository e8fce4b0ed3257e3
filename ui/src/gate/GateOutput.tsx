import { useQuery } from "@tanstack/react-query";
import { useId, useLayoutEffect, useRef, useState } from "react";
import { Button } from "../parts/Button";
import { ErrorState, LoadingState } from "../parts/Empty";
import styles from "./GateOutput.module.css";
import { fetchGateLog } from "./output";

const OUTPUT_POLL_MS = 2000; // ms between two looks while it runs

interface Props {
  batchId: string;
  gate: number;
  /** Several stand beside each other: the button says whose output it shows. */
  named?: boolean;
}

/** What a gate printed, asked for when somebody wants to see it. */
export function GateOutput({ batchId, gate, named = false }: Props) {
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
        <div id={id} className={styles.printed}>
          <GateOutputText batchId={batchId} gate={gate} />
        </div>
      )}
    </div>
  );
}

function GateOutputText({ batchId, gate }: { batchId: string; gate: number }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["gate", batchId, gate],
    queryFn: () => fetchGateLog(batchId, gate),
    staleTime: ({ state }) => (state.data?.ended ? Number.POSITIVE_INFINITY : 0),
    refetchInterval: ({ state }) => (state.data?.ended || state.error ? false : OUTPUT_POLL_MS),
  });
  const failure = error && <ErrorState error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return failure ?? <LoadingState what="Reading what the gate printed" />;
  return (
    <>
      {data.text === "" ? (
        <p className={styles.soft}>{data.ended ? "It printed nothing." : "It has printed nothing yet."}</p>
      ) : (
        <ScrolledText text={data.text} name={`Output of gate ${gate}`} />
      )}
      {data.cut && (
        <p className={styles.soft}>
          This is the end of it. All of it: <code>{`plait logs ${batchId} --gate --attempt ${gate}`}</code>
        </p>
      )}
      {failure}
    </>
  );
}

/** Its end is seen, also while more comes, unless somebody reads elsewhere in it. */
function ScrolledText({ text, name }: { text: string; name: string }) {
  const box = useRef<HTMLElement>(null);
  const atEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is longer when the text is
  useLayoutEffect(() => {
    if (box.current !== null && atEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  return (
    <section
      ref={box}
      className={styles.text}
      aria-label={name}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by the keys
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
        atEnd.current = scrollTop + clientHeight >= scrollHeight - 2;
      }}
    >
      <pre>{text}</pre>
    </section>
  );
}
