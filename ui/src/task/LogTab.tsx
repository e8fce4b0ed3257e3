import { useState } from "react";
import { Button } from "../parts/Button";
import { Empty, Failure, Loading } from "../parts/Empty";
import { ending, nameOf, newest, outcome, type Try } from "./attempts";
import { choose, isPrinted, useChosenAttempt } from "./chosen";
import styles from "./Log.module.css";
import type { RunName } from "./subject";
import { Transcript } from "./transcript/Transcript";
import type { useExplanation } from "./useRun";

interface Props {
  run: RunName;
  explanation: ReturnType<typeof useExplanation>;
}

/** What its attempts print: the newest one, or whichever is chosen. Whoever reads one keeps it when the next begins. */
export function LogTab({ run, explanation }: Props) {
  const chosen = useChosenAttempt();
  const [held, setHeld] = useState<string | null>(null);
  const [liked, setPretty] = useState<boolean | null>(null);
  const { data, error, refetch } = explanation;
  if (data === undefined)
    return error === null ? (
      <Loading what="Reading the log" />
    ) : (
      <Failure error={error} again={() => void refetch()} />
    );
  const attempts = data.attempts.filter(isPrinted);
  const last = newest(attempts, chosen.step) ?? attempts.at(-1);
  if (last === undefined)
    return <Empty title="No attempt has been made yet">{data.reason && `${capital(data.reason)}.`}</Empty>;
  const wanted = chosen.attempt === null ? held : nameOf({ ...chosen, attempt: chosen.attempt });
  const made = attempts.find((each) => nameOf(each) === wanted) ?? last;
  const pretty = liked ?? speaksObjects(made);
  return (
    <>
      {made !== last && chosen.attempt === null && (
        <div className={styles.newer} role="status">
          <span>{capital(nameOf(last))} has begun.</span>
          <Button onClick={() => setHeld(null)}>Show it</Button>
        </div>
      )}
      <Transcript
        key={`${nameOf(made)} ${pretty}`}
        of={{ ...run, step: made.step, attempt: made.attempt }}
        pretty={pretty}
        newest={newest(attempts, made.step) === made}
        end={made.completedAt === null ? null : ending(made)}
        onReading={(reads) => setHeld(reads ? nameOf(made) : null)}
      >
        <Chooser made={made} attempts={attempts} />
        <Prettiness pretty={pretty} set={setPretty} />
      </Transcript>
    </>
  );
}

function Prettiness({ pretty, set }: { pretty: boolean; set(pretty: boolean): void }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: two buttons of one choice, in a line
    <span role="group" aria-label="How it is shown" className={styles.choice}>
      <Button aria-pressed={pretty} onClick={() => set(true)}>
        Pretty
      </Button>
      <Button aria-pressed={!pretty} onClick={() => set(false)}>
        Raw
      </Button>
    </span>
  );
}

function Chooser({ made, attempts }: { made: Try; attempts: readonly Try[] }) {
  return (
    <select
      className={styles.select}
      aria-label="Attempt"
      value={nameOf(made)}
      onChange={({ target }) => {
        const found = attempts.find((each) => nameOf(each) === target.value);
        if (found) choose(found);
      }}
    >
      {attempts.map((each) => (
        <option key={nameOf(each)} value={nameOf(each)}>
          {nameOf(each)} · {each.agent} · {outcome(each)}
        </option>
      ))}
    </select>
  );
}

/** What is printed for programs is better read as what was said and done. */
function speaksObjects({ step, agent }: Try): boolean {
  return step === "write" && agent !== "shell" && agent !== "command";
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
