/* The pull request: edit its text, open it or update it. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useId, useRef, useState } from "react";
import { api, describeError, unwrap } from "../api/client";
import type { Batch } from "../api/types";
import { useReadOnlyReason } from "../app/access";
import { Button } from "../components/Button";
import { ErrorState, LoadingState } from "../components/EmptyState";
import { Icon } from "../components/Icon";
import { SegmentedControl, WRITE_OR_PREVIEW } from "../components/SegmentedControl";
import { copyToClipboard, showToast } from "../components/Toasts";
import { shortId } from "../model/format";
import {
  changedText,
  draftedText,
  isGenerated,
  loadPullRequestDraft,
  type Publish,
  type PullRequest,
  type PullRequestDraft,
  publishLabel,
  resetDraft,
  savePullRequestDraft,
  toSentence,
  whyNotPublish,
} from "./pullRequestDraft";
import { Section } from "./Section";
import styles from "./ShipPanel.module.css";

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
          <LoadingState what="Loading the pull request" />
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
  const pushOnly = !pullRequest.canPublish && pullRequest.canPush;
  const publish = pushOnly ? "push" : selected;
  const disabledReason = whyNotPublish(draft, pullRequest, publish);
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        void ship(publish, pullRequest);
      }}
    >
      {!pushOnly && (
        <fieldset className={styles.choices}>
          <legend className="visually-hidden">Publish as</legend>
          {PUBLISH_OPTIONS.map(([value, name]) => (
            <label key={value}>
              <input
                type="radio"
                name={group}
                checked={publish === value}
                onChange={() => setSelected(value)}
              />
              {name}
            </label>
          ))}
        </fieldset>
      )}
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
      {disabledReason !== null && !pullRequest.underWay && (
        <p className={styles.disabledReason}>{disabledReason}</p>
      )}
      {pushOnly && (
        <p className={styles.disabledReason}>{toSentence(`no pull request: ${pullRequest.why ?? ""}`)}</p>
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

/** The state of publishing: in progress, done, or why not. */
function PublishStatus({ batch, pullRequest, busy, error }: PublishStatusProps) {
  if (error !== null) {
    const described = describeError(error);
    return <PublishProblem message={described.message} hint={described.hint} />;
  }
  if (busy || pullRequest.underWay) {
    return (
      <p className={styles.status} role="status">
        Publishing the branch{pullRequest.underWay && pullRequest.hint ? `: ${pullRequest.hint}` : ""}. This
        continues without this page.
      </p>
    );
  }
  if (batch.unshipped) return <PublishProblem message={batch.unshipped} hint={batch.hint} />;
  return (
    <div className={styles.status} role="status">
      {pullRequest.url !== null && (
        <p>
          <a href={pullRequest.url} target="_blank" rel="noreferrer noopener">
            {pullRequest.url}
          </a>
        </p>
      )}
      {pullRequest.shipped && batch.shipped && <p>Published at {shortId(batch.shipped)}.</p>}
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
    <Section title="Check it out locally">
      <div className={styles.commands}>
        <CopyableCommand text={`git switch --detach ${branch}`} />
        {base !== null && <CopyableCommand text={`git diff ${shortId(base)}...${branch}`} />}
      </div>
    </Section>
  );
}

const Markdown = lazy(() => import("../components/Markdown"));

interface PullRequestFieldsProps {
  pullRequest: PullRequest;
  draft: PullRequestDraft;
  onDraft(draft: PullRequestDraft): void;
}

/** Title and body, to edit or preview. */
function PullRequestFields({ pullRequest, draft, onDraft }: PullRequestFieldsProps) {
  const [preview, setPreview] = useState(false);
  const { title, body } = draftedText(draft, pullRequest);
  const [titleId, bodyId] = [useId(), useId()];
  return (
    <div className={styles.fields}>
      <label htmlFor={titleId}>Title</label>
      <input
        id={titleId}
        value={title}
        maxLength={255}
        dir="auto"
        autoComplete="off"
        onChange={(event) => onDraft({ ...draft, title: event.target.value })}
      />
      <div className={styles.bodyLabel}>
        <label htmlFor={bodyId}>Description</label>
        <SegmentedControl
          legend="Edit or preview"
          options={WRITE_OR_PREVIEW}
          selected={preview ? "preview" : "write"}
          onSelect={(chosen) => setPreview(chosen === "preview")}
        />
      </div>
      {preview ? (
        <section
          className={styles.preview}
          aria-label="Description preview"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keyboard
          tabIndex={0}
        >
          <Suspense fallback={<LoadingState what="Reading" />}>
            <Markdown text={body} />
          </Suspense>
        </section>
      ) : (
        <textarea
          id={bodyId}
          value={body}
          rows={14}
          maxLength={60_000}
          dir="auto"
          placeholder="Leave empty to let plait write it."
          onChange={(event) => onDraft({ ...draft, body: event.target.value })}
        />
      )}
      {!isGenerated(draft, pullRequest) && (
        <Button kind="quiet" className={styles.reset} onClick={() => onDraft(resetDraft(pullRequest))}>
          Restore plait's text
        </Button>
      )}
    </div>
  );
}

/** A command to copy into a terminal. */
function CopyableCommand({ text }: { text: string }) {
  return (
    <span className={styles.copyable}>
      <code>{text}</code>
      <Button
        kind="quiet"
        icon
        label={`Copy: ${text}`}
        onClick={() => void copyToClipboard(text, "the command")}
      >
        <Icon name="copy" size={14} />
      </Button>
    </span>
  );
}

function usePullRequest(batchId: string) {
  return useQuery({
    queryKey: ["batch", batchId, "pr"],
    queryFn: () => unwrap(api.GET("/api/batches/{batch_id}/pr", { params: { path: { batch_id: batchId } } })),
    placeholderData: (before) => before,
  });
}

function usePullRequestDraft(batchId: string): [PullRequestDraft, (draft: PullRequestDraft) => void] {
  const [draft, setDraft] = useState<PullRequestDraft>(() => loadPullRequestDraft(batchId));
  return [
    draft,
    (next) => {
      savePullRequestDraft(batchId, next);
      setDraft(next);
    },
  ];
}

/** Requests publishing with the edited text, which the server then stores. */
function useShip(batchId: string, draft: PullRequestDraft, setDraft: (draft: PullRequestDraft) => void) {
  const client = useQueryClient();
  const latest = useRef(draft);
  latest.current = draft;
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const ship = async (publish: Publish, now: Parameters<typeof changedText>[1]) => {
    setBusy(true);
    setError(null);
    try {
      const words = publish === "push" ? {} : changedText(draft, now);
      const answer = await unwrap(
        api.POST("/api/batches/{batch_id}/pr", {
          params: { path: { batch_id: batchId } },
          body: { publish, ...words },
        }),
      );
      if (answer.results.some(({ result }) => result === "accepted"))
        showToast("Queued: no engine has picked it up yet");
      await client.invalidateQueries({ queryKey: ["batch", batchId] });
      if (publish !== "push" && latest.current === draft) setDraft({}); // not what was written meanwhile
    } catch (failed) {
      setError(failed);
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, ship };
}
