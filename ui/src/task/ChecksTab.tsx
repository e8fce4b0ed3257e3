import { Link } from "wouter";
import { routes } from "../app/routes";
import { EmptyState, ErrorState, LoadingState } from "../components/EmptyState";
import { shortId, spellOutBidi } from "../model/format";
import { GateOutput } from "../review/Gate";
import { gateText, NameList } from "./AboutTab";
import styles from "./AboutTab.module.css";
import { attemptName, describeEnd, newestAttempt } from "./attempts";
import { Section } from "./Facts";
import type { RunRef, SelectedTask } from "./selectedTask";
import { Transcript } from "./transcript/Transcript";

/** Verification, gate, and conflicts of the task. */
export function ChecksTab({ run, selected }: { run: RunRef; selected: SelectedTask }) {
  const { explanation, inBatch } = selected;
  const { data, error, refetch } = explanation;
  if (data === undefined)
    return error === null ? (
      <LoadingState what="Loading checks" />
    ) : (
      <ErrorState error={error} onRetry={() => void refetch()} />
    );
  const verified = newestAttempt(data.attempts, "verify");
  const gate = data.result?.gate ?? null;
  const command = inBatch.data?.batch.settings.gate ?? null;
  return (
    <>
      {data.conflict !== null && (
        <Section title="Conflict">
          <p>
            It conflicts with the batch branch ({shortId(data.conflict.with)}), in{" "}
            {data.conflict.files.length === 1 ? "this file" : "these files"}:
          </p>
          <NameList names={data.conflict.files} />
          <p>
            <Link href={routes.review(run.batchId)}>Compare both sides in the review</Link>
          </p>
        </Section>
      )}
      <Section title="Gate">
        {gate === null ? (
          <p className={styles.muted}>
            {command === null ? "This batch has no gate." : "The gate has not run yet."}
          </p>
        ) : (
          <>
            <p>
              {gateText(gate.passed)} on {shortId(gate.commit)}
              {command !== null && (
                <>
                  {": "}
                  <code>{spellOutBidi(command)}</code>
                </>
              )}
            </p>
            <GateOutput
              key={gate.gate}
              batchId={run.batchId}
              gate={gate.gate}
              name={`Output of gate ${gate.gate}, in the checks`}
            />
          </>
        )}
      </Section>
      {verified === undefined ? (
        <NotVerified
          status={data.status}
          command={selected.task?.verify ?? inBatch.data?.batch.settings.verify ?? null}
        />
      ) : (
        <>
          <h3 className={styles.heading} data-inset>
            Verification: {describeEnd(verified)}
          </h3>
          <Transcript
            key={attemptName(verified)}
            of={{ ...run, step: "verify", attempt: verified.attempt }}
            newest
            pretty={false}
            end={verified.completedAt === null ? null : describeEnd(verified)}
          />
        </>
      )}
    </>
  );
}

function NotVerified({ status, command }: { status: string; command: string | null }) {
  if (command === null)
    return (
      <EmptyState title="No verification">Set a verify command in the settings or in the task.</EmptyState>
    );
  return (
    <EmptyState title="Not verified yet">
      {status === "running" ? "Runs after the attempt ends: " : "Command: "}
      <code>{spellOutBidi(command)}</code>
    </EmptyState>
  );
}
