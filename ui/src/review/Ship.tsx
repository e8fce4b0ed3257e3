/* The pull request: its words to be edited, and the one button that opens it or brings it up to date. */

import { useId, useState } from "react";
import { describeError } from "../api/client";
import type { Batch } from "../api/types";
import { useReadOnlyReason } from "../app/me";
import { shortId } from "../model/format";
import { Button } from "../parts/Button";
import { ErrorState, LoadingState } from "../parts/Empty";
import { CopyableCommand } from "./Copyable";
import { Section } from "./Section";
import styles from "./Ship.module.css";
import { usePullRequest, usePullRequestDraft, useShip } from "./useShipping";
import { PullRequestFields } from "./Words";
import { type Publish, type PullRequest, publishLabel, toSentence, whyNotPublish } from "./wording";

const PUBLISH_OPTIONS: readonly (readonly [Publish, string])[] = [
  ["pr", "Pull request"],
  ["draft", "Draft"],
  ["push", "Push only"],
];

export function ShipPanel({ batch }: { batch: Batch }) {
  const { data, error, refetch } = usePullRequest(batch.id);
  return (
    <div className={styles.aside}>
      <Section title="Ship" aside={data?.target ? `into ${data.target}` : null}>
        {data !== undefined ? (
          <ShipForm batch={batch} pullRequest={data} />
        ) : error !== null ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : (
          <LoadingState what="Reading the pull request" />
        )}
      </Section>
      {batch.branch !== null && <LocalCommands branch={batch.branch} base={batch.base} />}
    </div>
  );
}

function ShipForm({ batch, pullRequest }: { batch: Batch; pullRequest: PullRequest }) {
  const [draft, setDraft] = usePullRequestDraft(batch.id);
  const [selected, setSelected] = useState<Publish>("pr");
  const readOnlyReason = useReadOnlyReason();
  const group = useId();
  const { busy, error, ship } = useShip(batch.id, draft, setDraft);
  const publish = !pullRequest.canPublish && pullRequest.canPush ? "push" : selected;
  const disabledReason = whyNotPublish(draft, pullRequest, publish);
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        void ship(publish, pullRequest);
      }}
    >
      <fieldset className={styles.choices}>
        <legend className="unseen">How it is published</legend>
        {PUBLISH_OPTIONS.map(([value, name]) => (
          <label key={value}>
            <input
              type="radio"
              name={group}
              checked={publish === value}
              disabled={!pullRequest.canPublish && pullRequest.canPush && value !== "push"}
              onChange={() => setSelected(value)}
            />
            {name}
          </label>
        ))}
      </fieldset>
      {publish !== "push" && <PullRequestFields pullRequest={pullRequest} draft={draft} onDraft={setDraft} />}
      <PublishStatus batch={batch} pullRequest={pullRequest} busy={busy} error={error} />
      <Button
        type="submit"
        kind="primary"
        busy={busy || pullRequest.underWay}
        disabled={readOnlyReason ?? disabledReason}
        className={styles.submit}
      >
        {pullRequest.underWay ? "Publishing" : publishLabel(pullRequest, publish)}
      </Button>
      {disabledReason !== null && !pullRequest.underWay && <p className={styles.why}>{disabledReason}</p>}
      {!pullRequest.canPublish && pullRequest.canPush && (
        <p className={styles.why}>{toSentence(pullRequest.why)}</p>
      )}
      {pullRequest.hint !== null && !pullRequest.canPublish && (
        <p className={styles.hint}>{pullRequest.hint}</p>
      )}
    </form>
  );
}

interface PublishStatusProps {
  batch: Batch;
  pullRequest: PullRequest;
  busy: boolean;
  error: unknown;
}

/** Where publishing stands: under way, done, or why not. */
function PublishStatus({ batch, pullRequest, busy, error }: PublishStatusProps) {
  if (error !== null) {
    const described = describeError(error);
    return <PublishProblem message={described.message} hint={described.hint} />;
  }
  if (busy || pullRequest.underWay) {
    return (
      <p className={styles.state} role="status">
        The branch is being published. This goes on without this page.
      </p>
    );
  }
  if (batch.unshipped) return <PublishProblem message={batch.unshipped} hint={batch.hint} />;
  return (
    <div className={styles.state} role="status">
      {pullRequest.url !== null && (
        <p>
          <a href={pullRequest.url} target="_blank" rel="noreferrer noopener">
            {pullRequest.url}
          </a>
        </p>
      )}
      {pullRequest.shipped && batch.shipped && <p>Published as it is, at {shortId(batch.shipped)}.</p>}
      {!pullRequest.shipped && batch.shipped && (
        <p>The branch has changed since it was published at {shortId(batch.shipped)}.</p>
      )}
    </div>
  );
}

function PublishProblem({ message, hint }: { message: string; hint: string | null }) {
  return (
    <div className={styles.problem} role="alert">
      <p>{toSentence(message)}</p>
      {hint && <p className={styles.hint}>{hint}</p>}
    </div>
  );
}

function LocalCommands({ branch, base }: { branch: string; base: string | null }) {
  return (
    <Section title="Look at it on your machine">
      <div className={styles.locally}>
        <CopyableCommand text={`git switch --detach ${branch}`} />
        {base !== null && <CopyableCommand text={`git diff ${shortId(base)}...${branch}`} />}
      </div>
    </Section>
  );
}
