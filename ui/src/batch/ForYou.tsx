import { type FormEvent, type ReactNode, useMemo, useState } from "react";
import { create } from "zustand";
import { sendBatchAction, sendTaskAction } from "../api/actions";
import type { ProviderLimit, Run } from "../api/types";
import { useReadOnlyReason } from "../app/access";
import { routes, useOpenTask } from "../app/routes";
import { Button, ButtonLink } from "../components/Button";
import { useNow } from "../components/hooks";
import { Icon, type IconName } from "../components/Icon";
import { formatTime, pluralize, shortId, spellOutBidi } from "../model/format";
import { type ForYouItem, type ForYouKind, findForYou, formatResults } from "../model/forYou";
import { useBoard } from "../store/board";
import { loadList, saveItem } from "../store/browserStorage";
import { useFeedbackDraft } from "../store/feedbackDraft";
import { ActionButton } from "./BatchControls";
import { countRetryable } from "./batchStatus";
import styles from "./ForYou.module.css";
import { RaiseBudget } from "./RaiseBudget";

const COLLAPSED_COUNT = 4;

/** Everything that needs the user, one line each, until it is handled. */
export function ForYou() {
  const tasks = useBoard(({ board }) => board.tasks);
  const batches = useBoard(({ board }) => board.batches);
  const limits = useBoard(({ board }) => board.limits);
  const dismissed = useDismissed((store) => store.keys);
  const [expanded, setExpanded] = useState(false);
  const items = useMemo(
    () => findForYou({ tasks, batches, limits }, dismissed),
    [tasks, batches, limits, dismissed],
  );
  if (items.length === 0) return null;
  const more = items.length - COLLAPSED_COUNT;
  return (
    <section className={styles.forYou} aria-labelledby="for-you">
      <h2 id="for-you" className={styles.heading}>
        For you <span className={styles.count}>{items.length}</span>
      </h2>
      <ul>
        {(expanded ? items : items.slice(0, COLLAPSED_COUNT)).map((item) => (
          <Item key={item.key} item={item} />
        ))}
      </ul>
      {more > 0 && (
        <Button
          kind="quiet"
          className={styles.toggle ?? ""}
          aria-expanded={expanded}
          onClick={() => setExpanded((now) => !now)}
        >
          {expanded ? "Show fewer" : `Show ${more} more`}
        </Button>
      )}
    </section>
  );
}

function Item({ item }: { item: ForYouItem }) {
  switch (item.kind) {
    case "question":
      return (
        <Line item={item} title={<TaskLink run={item.run} />} text={item.run.short || item.run.reason}>
          <Answer run={item.run} />
        </Line>
      );
    case "approval":
      return (
        <Line
          item={item}
          title={<TaskLink run={item.run} />}
          text={`${item.task.title} waits for your approval`}
        >
          <ActionButton
            kind="primary"
            label={`Approve ${item.run.taskId}`}
            run={() => sendTaskAction(item.run.batchId, item.run.taskId, "approve")}
          >
            Approve
          </ActionButton>
        </Line>
      );
    case "conflict":
      return (
        <Line
          item={item}
          title={<TaskLink run={item.run} />}
          text={`conflicts in ${item.run.short}`}
          dismissable
        >
          <ButtonLink href={routes.review(item.run.batchId)}>Resolve</ButtonLink>
        </Line>
      );
    case "paused": {
      const { id, name, reason, pauseCause } = item.batch;
      const text =
        pauseCause === "budget"
          ? `The budget is used up: ${reason.replace(/: raise the budget to continue$/, "")}` // here is a button
          : `Paused: ${reason}`;
      return (
        <Line item={item} title={<BatchName id={id} name={name} />} text={text}>
          {pauseCause === "budget" ? (
            <RaiseBudget batch={item.batch} />
          ) : (
            <>
              <ActionButton run={() => sendBatchAction(id, "unpause")}>Unpause</ActionButton>
              <ButtonLink href={routes.review(id)}>Open</ButtonLink>
            </>
          )}
        </Line>
      );
    }
    case "provider":
      return <ProviderLine item={item} limit={item.limit} />;
    case "review": {
      const { id, name, progress } = item.batch;
      const retryable = countRetryable(progress);
      return (
        <Line
          item={item}
          title={<BatchName id={id} name={name} />}
          text={formatResults(item.batch)}
          dismissable
        >
          {retryable > 0 && (
            <ActionButton run={() => sendBatchAction(id, "retry")}>
              Retry {pluralize(retryable, "task")}
            </ActionButton>
          )}
          <ButtonLink kind="primary" href={routes.review(id)}>
            {progress.completed > 0 ? "Review" : "Open"}
          </ButtonLink>
        </Line>
      );
    }
  }
}

function ProviderLine({ item, limit }: { item: ForYouItem; limit: ProviderLimit }) {
  const { provider, until, reason, rejected } = limit;
  const now = useNow(false);
  const text = rejected
    ? `rejects the login: ${reason}`
    : `takes no work until ${formatTime(until, now)}: ${reason}`;
  return <Line item={item} title={<strong>{provider}</strong>} text={text} dismissable />;
}

const ICONS: Record<ForYouKind, IconName> = {
  question: "help",
  approval: "check",
  paused: "pause",
  provider: "warning",
  conflict: "warning",
  review: "review",
};

interface LineProps {
  item: ForYouItem;
  title: ReactNode;
  text: string;
  /** Nothing that the user does here ends it. */
  dismissable?: boolean;
  children?: ReactNode;
}

function Line({ item, title, text, dismissable = false, children }: LineProps) {
  const shown = spellOutBidi(text);
  return (
    <li className={styles.line} data-kind={item.kind}>
      <Icon name={ICONS[item.kind]} />
      <p className={styles.text} title={shown}>
        {title} <span dir="auto">{shown}</span>
      </p>
      <span className={styles.actions}>
        {children}
        {dismissable && (
          <Button kind="quiet" icon label="Dismiss" onClick={() => dismissItem(item.key)}>
            <Icon name="close" />
          </Button>
        )}
      </span>
    </li>
  );
}

function BatchName({ id, name }: { id: string; name: string }) {
  return (
    <>
      <bdi className={styles.name}>{spellOutBidi(name)}</bdi> <span className={styles.id}>{shortId(id)}</span>
    </>
  );
}

function TaskLink({ run: { batchId, taskId } }: { run: Run }) {
  const [, open] = useOpenTask();
  return (
    <button
      type="button"
      className={styles.task}
      aria-label={`Open ${taskId}`}
      onClick={() => open({ task: taskId, batch: batchId })}
    >
      <bdi>{spellOutBidi(taskId)}</bdi>
    </button>
  );
}

/** Answers the agent's question here; what is written is also in the task's panel. */
function Answer({ run }: { run: Run }) {
  const readOnlyReason = useReadOnlyReason();
  const [text, setText] = useFeedbackDraft(run);
  const [busy, setBusy] = useState(false);
  const reason = readOnlyReason ?? (text.trim() === "" ? "Write an answer first." : null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (reason !== null || busy) return;
    setBusy(true);
    const sent = await sendTaskAction(run.batchId, run.taskId, "feedback", { text });
    setBusy(false);
    if (sent) setText("");
  };
  return (
    <form className={styles.answer} onSubmit={(event) => void submit(event)}>
      <input
        type="text"
        aria-label={`Answer ${run.taskId}`}
        placeholder="Your answer"
        autoComplete="off"
        dir="auto"
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={({ key, ctrlKey, metaKey, currentTarget }) => {
          // Browsers send forms on Enter alone; every other answer on the page is sent so.
          if (key === "Enter" && (ctrlKey || metaKey)) currentTarget.form?.requestSubmit();
        }}
      />
      <Button kind="primary" type="submit" disabled={reason} busy={busy}>
        Answer
      </Button>
    </form>
  );
}

/* What the user has put away in this browser. Its key says what it was about, so that something new comes back. */
const KEY = "plait.dismissed";
const MAX_KEYS = 200;

const load = () => ({ keys: new Set(loadList(KEY)) as ReadonlySet<string> });

const useDismissed = create<{ keys: ReadonlySet<string> }>(load);

function dismissItem(key: string): void {
  const keys = [...useDismissed.getState().keys, key].slice(-MAX_KEYS);
  useDismissed.setState({ keys: new Set(keys) });
  saveItem(KEY, JSON.stringify(keys));
}

// Dismissing in one window also dismisses in the others.
if (typeof window !== "undefined")
  window.addEventListener("storage", ({ key }) => key === KEY && useDismissed.setState(load()));
