/* The main tab: what happened to the task, in order, as the server tells it. */

import type { ReactNode } from "react";
import { useState } from "react";
import { Link } from "wouter";
import { useConversation } from "../api/queries";
import type { ConversationEntry } from "../api/types";
import { routes, useOpenTask } from "../app/routes";
import { Button } from "../components/Button";
import { ErrorState, LoadingState } from "../components/EmptyState";
import { useNow } from "../components/hooks";
import { TaskStatusBadge } from "../components/Status";
import { formatCost, formatDiffstat, formatTime, joinNames, shortId, spellOutBidi } from "../model/format";
import { NameList } from "./AboutTab";
import {
  type Attempt,
  attemptDuration,
  attemptTitle,
  describeFailure,
  describeResult,
  hasChange,
  hasTranscript,
  NEWEST_DIFF,
  selectAttempt,
  selectDiff,
} from "./attempts";
import styles from "./Conversation.module.css";
import { Section } from "./Facts";
import type { RunRef } from "./selectedTask";

type Told = Attempt["told"][number];
type Resolution = NonNullable<ConversationEntry["resolution"]>;

/** The last lines of the failing log, if the task failed, and then everything in order. */
export function Conversation({ run }: { run: RunRef }) {
  const { data, error, refetch } = useConversation(run);
  if (data === undefined)
    return error === null ? (
      <LoadingState what="Loading the conversation" />
    ) : (
      <ErrorState error={error} onRetry={() => void refetch()} />
    );
  const failure = data.failure === null ? undefined : data.entries[data.failure];
  return (
    <>
      {failure !== undefined && failure.output !== null && (
        <FailureSection entry={failure} output={failure.output} />
      )}
      {data.entries.length > 0 && (
        <Section title="Conversation">
          <ol className={styles.thread} aria-label="Conversation">
            {data.entries.map((entry, place) => {
              const before = data.entries[place - 1];
              const known = before !== undefined && saysReason(before, entry);
              if (known && entry.kind === "ended") return null;
              return (
                // biome-ignore lint/suspicious/noArrayIndexKey: entries are only added, at the end
                <li key={place} className={styles.entry} data-tone={entryTone(entry)}>
                  <Entry
                    entry={entry}
                    run={run}
                    known={known}
                    since={earlierChange(data.entries, place)}
                    withOutput={place !== data.failure}
                  />
                </li>
              );
            })}
          </ol>
        </Section>
      )}
    </>
  );
}

/** The newest attempt before this entry that changed something. */
function earlierChange(entries: readonly ConversationEntry[], place: number): number | null {
  const earlier = entries.slice(0, place).findLast(({ attempt }) => attempt !== null && hasChange(attempt));
  return earlier?.attempt?.attempt ?? null;
}

/** What failed, by its last lines, with the way to the rest. */
function FailureSection({ entry, output }: { entry: ConversationEntry; output: string }) {
  return (
    <Section
      title={`Last lines of ${entry.attempt === null ? "the gate" : attemptTitle(entry.attempt).toLowerCase()}`}
    >
      <pre className={styles.output}>{spellOutBidi(output)}</pre>
      <p>
        <EntryLinks entry={entry} />
      </p>
    </Section>
  );
}

type Tone = "done" | "failed" | "running" | "asking" | "plain";

function entryTone({ kind, attempt, gate, result, status }: ConversationEntry): Tone {
  switch (kind) {
    case "attempt":
      if (attempt === null || attempt.completedAt === null) return "running";
      return attempt.category === "ok" ? "done" : attempt.category === "question" ? "asking" : "failed";
    case "gate":
      return gate === null || gate.passed === null ? "running" : gate.passed ? "done" : "failed";
    case "merge":
      return result === null ? "running" : result === "merged" ? "done" : "failed";
    case "publish":
      return result === "done" ? "done" : "failed";
    case "resolve":
      return "done";
    case "question":
      return "asking";
    case "conflict":
      return "failed";
    case "ended":
      return status === "done" ? "done" : status === "cancelled" || status === "skipped" ? "plain" : "failed";
    default:
      return "plain";
  }
}

interface EntryProps {
  entry: ConversationEntry;
  run: RunRef;
  /** The entry before it says why. */
  known: boolean;
  since: number | null;
  /** Its output isn't shown elsewhere. */
  withOutput: boolean;
}

function Entry({ entry, run, known, since, withOutput }: EntryProps) {
  const output = withOutput && entry.output !== null && (
    <details className={styles.details}>
      <summary>Last lines of its output</summary>
      <pre className={styles.output}>{spellOutBidi(entry.output)}</pre>
    </details>
  );
  if (entry.attempt !== null)
    return <AttemptEntry entry={entry} attempt={entry.attempt} since={since} output={output} />;
  return (
    <>
      <p className={styles.head} dir="auto">
        <span className={styles.headText}>
          <EntryText entry={entry} run={run} known={known} />
          {(entry.gate ?? entry.resolution) !== null && <EntryLinks entry={entry} />}
        </span>
        <EntryTime at={entry.at} />
      </p>
      {entry.files.length > 0 && <NameList names={entry.files} />}
      {entry.resolution !== null && <ResolvedFiles files={entry.resolution.files} />}
      {entry.kind === "feedback" && <LongText text={entry.text} />}
      {entry.kind === "question" && <LongText text={entry.text} />}
      {output}
    </>
  );
}

function EntryTime({ at }: { at: string }) {
  const now = useNow(false);
  return (
    <time className={styles.time} dateTime={at} title={new Date(at).toLocaleString()}>
      {formatTime(at, now)}
    </time>
  );
}

/** Whether an entry already says why the task ended, or was retried. */
function saysReason(
  { attempt, files, kind, result }: ConversationEntry,
  { status, text }: ConversationEntry,
) {
  const detail = attempt?.detail ?? "";
  const said = text.replace(/ \(after \d+ attempts\)$/, ""); // the attempts stand above
  const isMerge = kind === "merge" && result === "merged" && status === "done";
  return isMerge || (detail !== "" && said.endsWith(detail)) || files.some((file) => said.includes(file));
}

/** A sentence about an entry that is no attempt. */
function EntryText({
  entry,
  run,
  known,
}: {
  entry: ConversationEntry;
  run: RunRef;
  known: boolean;
}): ReactNode {
  const { kind, result, commit, url, status, files, gate, resolution, without } = entry;
  const text = spellOutBidi(entry.text);
  switch (kind) {
    case "merge":
      if (files.length > 0) return <ConflictText run={run} />;
      if (result === null) return "Merging into the batch branch.";
      if (result !== "merged") return `Could not be merged: ${text}`;
      return (
        <span>
          Merged {commit !== null && <code>{shortId(commit)}</code>} into{" "}
          <Link href={routes.review(run.batchId)}>the batch branch</Link>.
        </span>
      );
    case "conflict":
      return <ConflictText run={run} />;
    case "resolve":
      return (
        <>
          <strong>Conflict resolved by a person</strong>
          {resolution?.diffstat && (
            <span className={styles.facts}>{formatDiffstat(resolution.diffstat)}</span>
          )}
        </>
      );
    case "rebuild":
      return (
        <span>
          The batch branch was rebuilt without <bdi>{spellOutBidi(joinNames(without))}</bdi>; its commit is
          now <code>{shortId(commit ?? "")}</code>.
        </span>
      );
    case "gate": {
      const verdict = gate?.passed ? "passed" : gate?.passed === false ? "failed" : "is running";
      return `Gate ${gate?.gate ?? ""} ${verdict}${text === "" ? "" : `: ${text}`}.`.replace(/\.\.$/, ".");
    }
    case "publish":
      if (result !== "done") return `Publishing failed: ${text}`;
      if (url === null) return "The batch branch was pushed.";
      return (
        <span>
          In the pull request{" "}
          {/^https?:\/\//.test(url) ? (
            <a href={url} target="_blank" rel="noreferrer noopener">
              {url}
            </a>
          ) : (
            url
          )}
        </span>
      );
    case "feedback":
      return `${SOURCE_TITLES[entry.feedback?.source ?? "person"]}, for the next attempt`;
    case "question":
      return <strong>The agent asks</strong>;
    case "ended":
      return (
        <>
          {status !== null && <TaskStatusBadge status={status} />}
          <span>{text}</span>
        </>
      );
    case "retry": {
      const what =
        status === "conflicted" ? "An agent repairs the conflict, by request" : "Retried by request";
      return text === "" ? `${what}.` : `${what}, with ${text}.`;
    }
    case "retried":
      return known ? "Retried." : `Retried: ${text}`;
    case "interrupted":
      return `Interrupted: ${text}`;
    default:
      return REQUEST_TEXTS[kind as keyof typeof REQUEST_TEXTS];
  }
}

const REQUEST_TEXTS = {
  approve: "Approved.",
  recheck: "Its finished work is verified again, by request.",
  cancel: "Cancelled by request.",
  drop: "Dropped by request.",
};

const CHOICES: Record<Resolution["files"][number]["choice"], string> = {
  batch: "the batch branch's version",
  task: "this task's version",
  edited: "edited",
};

/** What was made of each file; a task may conflict in many. */
function ResolvedFiles({ files }: Pick<Resolution, "files">) {
  return (
    <ul className={styles.resolved}>
      {files.map(({ path, choice }) => (
        <li key={path}>
          <bdi>
            <code>{spellOutBidi(path)}</code>
          </bdi>{" "}
          <span className={styles.muted}>{CHOICES[choice]}</span>
        </li>
      ))}
    </ul>
  );
}

function ConflictText({ run }: { run: RunRef }) {
  return (
    <span>
      It conflicts with the batch branch: <Link href={routes.review(run.batchId)}>compare both sides</Link>.
    </span>
  );
}

const SOURCE_TITLES: Record<Told["source"], string> = {
  person: "Feedback",
  answer: "The answer",
  review: "Review comments",
  check: "A failed check",
  conflict: "A conflict",
  plait: "A note by plait",
};

function AttemptEntry({
  entry,
  attempt,
  since,
  output,
}: {
  entry: ConversationEntry;
  attempt: Attempt;
  since: number | null;
  output: ReactNode;
}) {
  const now = useNow(attempt.completedAt === null);
  const { cost, diffstat } = attempt;
  const facts = [
    attempt.step === "write" && attempt.agent,
    attempt.node !== null && `on ${attempt.node}`,
    attemptDuration(attempt, now),
    cost !== null && formatCost(cost),
    diffstat !== null && diffstat.files > 0 && formatDiffstat(diffstat),
  ].filter(Boolean);
  return (
    <>
      <p className={styles.head}>
        <span className={styles.headText}>
          <strong>{attemptTitle(attempt)}</strong>
          <span className={styles.result}>{describeResult(attempt)}</span>
          <bdi className={styles.facts}>{facts.join(" · ")}</bdi>
          <EntryLinks entry={entry} since={since} />
        </span>
        <EntryTime at={entry.at} />
      </p>
      {attempt.told.map((told) => (
        <ToldText key={`${told.at} ${told.text}`} told={told} />
      ))}
      {attempt.toldCheck !== null && (
        <p className={styles.muted}>
          It was also told how the output of verification {attempt.toldCheck} ends.
        </p>
      )}
      {attempt.category !== "ok" && attempt.category !== "question" && attempt.detail && (
        <p className={styles.muted} dir="auto">
          {spellOutBidi(describeFailure(attempt))}
        </p>
      )}
      {output}
    </>
  );
}

/** What the agent was told beyond the task. */
export function ToldText({ told }: { told: Told }) {
  return (
    <div className={styles.told}>
      <p className={styles.muted}>
        Told: {SOURCE_TITLES[told.source].toLowerCase()} <EntryTime at={told.at} />
      </p>
      <LongText text={told.text} />
    </div>
  );
}

/** The log and the diff of an attempt, the output of a gate, or the diff of a resolution. */
function EntryLinks({
  entry: { attempt, gate, resolution },
  since = null,
}: {
  entry: ConversationEntry;
  /** The attempt before it that changed something. */
  since?: number | null;
}) {
  const [open, setOpen] = useOpenTask();
  const show = (tab: "log" | "diff" | "checks") => open !== null && setOpen({ ...open, tab });
  if (gate !== null)
    return <LinkButton text="Output" label={`Output of gate ${gate.gate}`} onClick={() => show("checks")} />;
  if (resolution !== null) {
    const showResolution = () => {
      selectDiff({ ...NEWEST_DIFF, resolution: resolution.resolution });
      show("diff");
    };
    return <LinkButton text="Diff" label="Diff of the resolved conflict" onClick={showResolution} />;
  }
  if (attempt === null || !hasTranscript(attempt)) return null;
  const name = attemptTitle(attempt).toLowerCase();
  const changed = hasChange(attempt) || (attempt.step === "write" && attempt.completedAt === null);
  const showLog = () => {
    selectAttempt(attempt);
    show("log");
  };
  const showDiff = (since: number | null) => {
    selectDiff({ ...NEWEST_DIFF, attempt: attempt.attempt, since });
    show("diff");
  };
  return (
    <span className={styles.links}>
      <LinkButton text="Log" label={`Log of ${name}`} onClick={showLog} />
      {changed && <LinkButton text="Diff" label={`Diff of ${name}`} onClick={() => showDiff(null)} />}
      {changed && since !== null && (
        <LinkButton
          text={`Since ${since}`}
          label={`Changes of ${name} since attempt ${since}`}
          onClick={() => showDiff(since)}
        />
      )}
    </span>
  );
}

function LinkButton({ text, label, onClick }: { text: string; label: string; onClick(): void }) {
  return (
    <button type="button" className={styles.link} aria-label={label} title={label} onClick={onClick}>
      {text}
    </button>
  );
}

const SHORT_LINES = 12; // lines
const SHORT_LENGTH = 1200; // characters

/** A text as it is; of a long one the beginning, until all is asked for. */
function LongText(props: { text: string }) {
  const [whole, setWhole] = useState(false);
  const text = spellOutBidi(props.text.trim());
  const lines = text.split("\n");
  const short = lines.slice(0, SHORT_LINES).join("\n").slice(0, SHORT_LENGTH);
  const shown = whole ? text : short;
  return (
    <>
      <p className={styles.text} dir="auto">
        {shown}
        {shown.length < text.length && " …"}
      </p>
      {short.length < text.length && (
        <Button kind="quiet" aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? "Show less" : "Show all"}
        </Button>
      )}
    </>
  );
}
