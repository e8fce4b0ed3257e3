import { Link } from "wouter";
import { to } from "../app/address";
import { GateOutput } from "../gate/GateOutput";
import { short } from "../model/format";
import { Empty, Failure, Loading } from "../parts/Empty";
import { Names } from "./About";
import styles from "./About.module.css";
import { ending, nameOf, newest } from "./attempts";
import { Section } from "./Facts";
import { gateWord } from "./Result";
import type { RunName } from "./subject";
import { Transcript } from "./transcript/Transcript";
import type { Subject } from "./useSubject";

/** Whether it is good: its verification, the gate, and what it conflicts with. */
export function Checks({ run, subject }: { run: RunName; subject: Subject }) {
  const { explanation, inBatch } = subject;
  const { data, error, refetch } = explanation;
  if (data === undefined)
    return error === null ? (
      <Loading what="Reading the checks" />
    ) : (
      <Failure error={error} again={() => void refetch()} />
    );
  const verified = newest(data.attempts, "verify");
  const gate = data.result?.gate ?? null;
  const wanted = inBatch.data?.head.settings.gate ?? null;
  return (
    <>
      {data.conflict !== null && (
        <Section title="Conflict">
          <p>
            It changes what the batch branch has changed too ({short(data.conflict.with)}), in{" "}
            {data.conflict.files.length === 1 ? "this file" : "these files"}:
          </p>
          <Names names={data.conflict.files} />
          <p>
            <Link href={to.review(run.batchId)}>Both sides are in the review</Link>
          </p>
        </Section>
      )}
      <Section title="Gate">
        {gate === null ? (
          <p className={styles.soft}>
            {wanted === null ? "This batch has no gate." : "The gate has not run on it yet."}
          </p>
        ) : (
          <>
            <p>
              {gateWord(gate.passed)} on {short(gate.commit)}
              {wanted !== null && (
                <>
                  {": "}
                  <code>{wanted}</code>
                </>
              )}
            </p>
            <GateOutput key={gate.gate} batchId={run.batchId} gate={gate.gate} />
          </>
        )}
      </Section>
      {verified === undefined ? (
        <Unverified
          status={data.status}
          wanted={subject.task?.verify ?? inBatch.data?.head.settings.verify ?? null}
        />
      ) : (
        <>
          <h3 className={styles.heading} data-inset>
            Verification: {ending(verified)}
          </h3>
          <Transcript
            key={nameOf(verified)}
            of={{ ...run, step: "verify", attempt: verified.attempt }}
            newest
            pretty={false}
            end={verified.completedAt === null ? null : ending(verified)}
          />
        </>
      )}
    </>
  );
}

function Unverified({ status, wanted }: { status: string; wanted: string | null }) {
  if (wanted === null)
    return (
      <Empty title="Nothing verifies it">A verify command in the settings, or in the task, would.</Empty>
    );
  return (
    <Empty title="It has not been verified yet">
      {status === "running" ? "That is done when its attempt has ended: " : "It would be by "}
      <code>{wanted}</code>
    </Empty>
  );
}
