import { useState } from "react";
import { api, describeError, unwrap } from "../api/client";
import type { Task } from "../api/types";
import { useReadOnlyReason } from "../app/access";
import { Button } from "../components/Button";
import { confirm } from "../components/ConfirmDialog";
import { Icon } from "../components/Icon";
import { Popover } from "../components/Popover";
import { pluralize, spellOutBidi } from "../model/format";
import styles from "./RunBar.module.css";
import { type BulkAction, whyNotRun } from "./runChecks";

const ACTIONS: Record<BulkAction, { name: string; confirmText: string | null }> = {
  approve: { name: "Approve", confirmText: null },
  retry: { name: "Retry", confirmText: null },
  cancel: {
    name: "Cancel",
    confirmText: "Running attempts are stopped and discarded. You can retry the tasks later.",
  },
  drop: {
    name: "Drop",
    confirmText: "The batches continue without them, and their merged changes are removed.",
  },
};

interface Props {
  tasks: readonly Task[];
  onDone(title: string, outcomes: readonly BulkResult[]): void;
}

/** Further actions on the selected tasks, each in its own batch. */
export function BulkActions({ tasks, onDone }: Props) {
  const readOnlyReason = useReadOnlyReason();
  const [busy, setBusy] = useState<BulkAction | null>(null);
  const run = async (action: BulkAction, close: () => void) => {
    const { name, confirmText } = ACTIONS[action];
    close();
    const title = `${name} ${pluralize(tasks.length, "task")}`;
    if (
      confirmText !== null &&
      !(await confirm({ title: `${title}?`, text: confirmText, action: title, danger: true }))
    )
      return;
    setBusy(action);
    onDone(title, await runBulkAction(action, tasks));
    setBusy(null);
  };
  return (
    <Popover name="More actions" button="More" side="up" kind="quiet">
      {(close) => (
        <ul className={styles.actions}>
          {(Object.keys(ACTIONS) as BulkAction[]).map((action) => (
            <li key={action}>
              <Button
                kind="quiet"
                disabled={readOnlyReason ?? whyNotRun(action, tasks)}
                busy={busy === action}
                onClick={() => void run(action, close)}
              >
                {ACTIONS[action].name}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Popover>
  );
}

interface BulkResultsProps {
  title: string;
  results: readonly BulkResult[];
  onClose(): void;
}

/** The result for each task, refused ones first. */
export function BulkResults({ title, results, onClose }: BulkResultsProps) {
  const grantedCount = results.filter((outcome) => outcome.granted).length;
  const refusedFirst = [...results].sort((one, other) => Number(one.granted) - Number(other.granted));
  return (
    <section className={styles.results} aria-label="Results" aria-live="polite">
      <header>
        <h2>
          {title}: {grantedCount} of {results.length} granted
        </h2>
        <Button kind="quiet" icon label="Close the results" onClick={onClose}>
          <Icon name="close" />
        </Button>
      </header>
      <ul>
        {refusedFirst.map(({ id, granted: yes, message }) => (
          <li key={id} data-granted={yes}>
            <Icon name={yes ? "check" : "warning"} />
            <span className={styles.id}>{spellOutBidi(id)}</span>
            <span>{spellOutBidi(message)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

export interface BulkResult {
  /** The task's id on the board. */
  readonly id: string;
  readonly granted: boolean;
  /** A sentence with details, if any. */
  readonly message: string;
}

const MAX_TASKS_PER_REQUEST = 1000; // tasks in one request
const RESULT_TEXT = { granted: "granted", accepted: "queued; no engine has picked it up yet" } as const;

/** Requests the action for each task in its batch. A failed request does not affect the others. */
export async function runBulkAction(
  action: BulkAction,
  tasks: readonly Task[],
): Promise<readonly BulkResult[]> {
  const batches = Map.groupBy(tasks, ({ batch }) => batch?.batchId ?? null);
  const requests = [...batches].flatMap(([batchId, members]) =>
    batchId === null ? [] : chunk(members).map((part) => requestBulkAction(action, batchId, part)),
  );
  const answers = await Promise.all(requests);
  const byId = new Map(answers.flat().map((outcome) => [outcome.id, outcome]));
  return tasks.map((task) => byId.get(task.id) ?? notInBatch(task));
}

function chunk<T>(items: readonly T[]): readonly (readonly T[])[] {
  const starts = Array.from(
    { length: Math.ceil(items.length / MAX_TASKS_PER_REQUEST) },
    (_, n) => n * MAX_TASKS_PER_REQUEST,
  );
  return starts.map((start) => items.slice(start, start + MAX_TASKS_PER_REQUEST));
}

function notInBatch({ id }: Task): BulkResult {
  return { id, granted: false, message: "not in a batch" };
}

async function requestBulkAction(
  action: BulkAction,
  batchId: string,
  tasks: readonly Task[],
): Promise<readonly BulkResult[]> {
  const names = new Map(tasks.map(({ id, batch }) => [batch?.taskId ?? id, id]));
  try {
    const { results } = await unwrap(
      api.POST("/api/bulk", { body: { action, batchId, taskIds: [...names.keys()] } }),
    );
    return results.map(({ taskId, result, reason }) => {
      const granted = result === "granted" || result === "accepted";
      return {
        id: names.get(taskId) ?? taskId,
        granted,
        message: granted ? RESULT_TEXT[result] : (reason ?? result),
      };
    });
  } catch (error) {
    return tasks.map(({ id }) => ({ id, granted: false, message: describeError(error).message }));
  }
}
