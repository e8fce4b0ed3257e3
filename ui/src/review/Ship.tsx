/* The pull request: its words to be edited, and the one button that opens it or brings it up to date. */

import { useId, useState } from "react";
import { inWords } from "../api/client";
import type { Batch } from "../api/types";
import { useMayNot } from "../app/me";
import { short } from "../model/format";
import { Button } from "../parts/Button";
import { Failure, Loading } from "../parts/Empty";
import { Copyable } from "./Copyable";
import { Section } from "./Section";
import styles from "./Ship.module.css";
import { usePullRequest, useShip, useWording } from "./useShipping";
import { Words } from "./Words";
import { actionOf, type Publish, type PullRequest, sentence, whyNot } from "./wording";

const CHOICES: readonly (readonly [Publish, string])[] = [
  ["pr", "Pull request"],
  ["draft", "Draft"],
  ["push", "Push only"],
];

export function Ship({ batch }: { batch: Batch }) {
  const { data, error, refetch } = usePullRequest(batch.id);
  return (
    <div className={styles.aside}>
      <Section title="Ship" aside={data?.target ? `into ${data.target}` : null}>
        {data !== undefined ? (
          <Shipping batch={batch} told={data} />
        ) : error !== null ? (
          <Failure error={error} again={() => void refetch()} />
        ) : (
          <Loading what="Reading the pull request" />
        )}
      </Section>
      {batch.branch !== null && <Locally branch={batch.branch} base={batch.base} />}
    </div>
  );
}

function Shipping({ batch, told }: { batch: Batch; told: PullRequest }) {
  const [draft, setDraft] = useWording(batch.id);
  const [chosen, setChosen] = useState<Publish>("pr");
  const mayNot = useMayNot();
  const group = useId();
  const { busy, error, ship } = useShip(batch.id, draft, setDraft);
  const publish = !told.canPublish && told.canPush ? "push" : chosen;
  const why = whyNot(draft, told, publish);
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        void ship(publish, told);
      }}
    >
      <fieldset className={styles.choices}>
        <legend className="unseen">How it is published</legend>
        {CHOICES.map(([value, name]) => (
          <label key={value}>
            <input
              type="radio"
              name={group}
              checked={publish === value}
              disabled={!told.canPublish && told.canPush && value !== "push"}
              onChange={() => setChosen(value)}
            />
            {name}
          </label>
        ))}
      </fieldset>
      {publish !== "push" && <Words told={told} draft={draft} onDraft={setDraft} />}
      <State batch={batch} told={told} busy={busy} error={error} />
      <Button
        type="submit"
        kind="primary"
        busy={busy || told.underWay}
        disabled={mayNot ?? why}
        className={styles.submit}
      >
        {told.underWay ? "Publishing" : actionOf(told, publish)}
      </Button>
      {why !== null && !told.underWay && <p className={styles.why}>{why}</p>}
      {!told.canPublish && told.canPush && <p className={styles.why}>{sentence(told.why)}</p>}
      {told.hint !== null && !told.canPublish && <p className={styles.hint}>{told.hint}</p>}
    </form>
  );
}

interface StateProps {
  batch: Batch;
  told: PullRequest;
  busy: boolean;
  error: unknown;
}

/** Where publishing stands: under way, done, or why not. */
function State({ batch, told, busy, error }: StateProps) {
  if (error !== null) {
    const said = inWords(error);
    return <Problem words={said.message} hint={said.hint} />;
  }
  if (busy || told.underWay) {
    return (
      <p className={styles.state} role="status">
        The branch is being published. This goes on without this page.
      </p>
    );
  }
  if (batch.unshipped) return <Problem words={batch.unshipped} hint={batch.hint} />;
  return (
    <div className={styles.state} role="status">
      {told.url !== null && (
        <p>
          <a href={told.url} target="_blank" rel="noreferrer noopener">
            {told.url}
          </a>
        </p>
      )}
      {told.shipped && batch.shipped && <p>Published as it is, at {short(batch.shipped)}.</p>}
      {!told.shipped && batch.shipped && (
        <p>The branch has changed since it was published at {short(batch.shipped)}.</p>
      )}
    </div>
  );
}

function Problem({ words, hint }: { words: string; hint: string | null }) {
  return (
    <div className={styles.problem} role="alert">
      <p>{sentence(words)}</p>
      {hint && <p className={styles.hint}>{hint}</p>}
    </div>
  );
}

function Locally({ branch, base }: { branch: string; base: string | null }) {
  return (
    <Section title="Look at it on your machine">
      <div className={styles.locally}>
        <Copyable text={`git switch --detach ${branch}`} />
        {base !== null && <Copyable text={`git diff ${short(base)}...${branch}`} />}
      </div>
    </Section>
  );
}
