import { useState } from "react";
import type { useExplanation } from "../api/queries";
import { Button } from "../components/Button";
import { EmptyState, ErrorState, LoadingState } from "../components/EmptyState";
import { SegmentedControl } from "../components/SegmentedControl";
import { Select } from "../components/Select";
import {
  type Attempt,
  attemptName,
  describeEnd,
  describeResult,
  hasTranscript,
  newestAttempt,
  selectAttempt,
  useSelectedAttempt,
} from "./attempts";
import styles from "./LogTab.module.css";
import type { RunRef } from "./selectedTask";
import { Transcript } from "./transcript/Transcript";
import { EarlyFind, isSearching } from "./transcript/TranscriptFind";

const FORMAT_LABELS = { pretty: "Pretty", raw: "Raw" } as const;

interface Props {
  run: RunRef;
  explanation: ReturnType<typeof useExplanation>;
}

/** The transcript of the selected or newest attempt. A new attempt does not replace one that is being read. */
export function LogTab({ run, explanation }: Props) {
  const selection = useSelectedAttempt();
  const [readName, setReadName] = useState<string | null>(null);
  const [preferred, setPretty] = useState<boolean | null>(null);
  const searchText = useState("");
  const { data, error, refetch } = explanation;
  if (data === undefined)
    return error === null ? (
      <>
        <EarlyFind text={searchText} />
        <LoadingState what="Loading the log" />
      </>
    ) : (
      <ErrorState error={error} onRetry={() => void refetch()} />
    );
  const attempts = data.attempts.filter(hasTranscript);
  const latest = newestAttempt(attempts, selection.step) ?? attempts.at(-1);
  if (latest === undefined)
    return <EmptyState title="No attempts yet">{data.reason && `${capitalize(data.reason)}.`}</EmptyState>;
  const wanted =
    selection.attempt === null ? readName : attemptName({ ...selection, attempt: selection.attempt });
  const shown = attempts.find((each) => attemptName(each) === wanted) ?? latest;
  const pretty = preferred ?? isStructured(shown);
  return (
    <>
      {shown !== latest && selection.attempt === null && (
        <div className={styles.newer} role="status">
          <span>{capitalize(attemptName(latest))} has started.</span>
          <Button onClick={() => setReadName(null)}>Show it</Button>
        </div>
      )}
      <Transcript
        key={`${attemptName(shown)} ${pretty}`}
        of={{ ...run, step: shown.step, attempt: shown.attempt }}
        pretty={pretty}
        newest={newestAttempt(attempts, shown.step) === shown}
        end={shown.completedAt === null ? null : describeEnd(shown)}
        onReading={(reads) => setReadName(reads ? attemptName(shown) : null)}
        searchText={searchText}
        searching={isSearching()}
      >
        <AttemptSelect shown={shown} attempts={attempts} />
        <SegmentedControl
          legend="Log format"
          options={FORMAT_LABELS}
          selected={pretty ? "pretty" : "raw"}
          onSelect={(format) => setPretty(format === "pretty")}
        />
      </Transcript>
    </>
  );
}

function AttemptSelect({ shown, attempts }: { shown: Attempt; attempts: readonly Attempt[] }) {
  return (
    <Select
      className={styles.select ?? ""}
      label="Attempt"
      options={attempts.map((each) => [
        attemptName(each),
        `${attemptName(each)} · ${each.agent} · ${describeResult(each)}`,
      ])}
      value={attemptName(shown)}
      onSelect={(name) => {
        const found = attempts.find((each) => attemptName(each) === name);
        if (found) selectAttempt(found);
      }}
    />
  );
}

/** JSON output is easier to read as messages. */
function isStructured({ step, agent }: Attempt): boolean {
  return step === "write" && agent !== "shell" && agent !== "command";
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
