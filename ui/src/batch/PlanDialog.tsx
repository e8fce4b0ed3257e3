import { useEffect, useId, useRef, useState } from "react";
import { api, describeError, unwrap } from "../api/client";
import { useReadOnlyReason } from "../app/access";
import { routes } from "../app/routes";
import { releaseFreeze } from "../board/boardLayout";
import { Button } from "../components/Button";
import { Dialog } from "../components/Dialog";
import { LoadingState } from "../components/EmptyState";
import { SegmentedControl } from "../components/SegmentedControl";
import { showToast } from "../components/Toasts";
import { useLive } from "../live/LiveProvider";
import { pluralize, shortId } from "../model/format";
import { clearSelection } from "../store/selection";
import styles from "./PlanDialog.module.css";
import { PlanPreview, PlanProblems } from "./PlanPreview";
import { AgentPicker, RunSettings, SelectionOptions } from "./RunForm";
import { countTasks, whyNotStart } from "./runChecks";
import {
  buildBatchBody,
  newIdempotencyKey,
  type RunOptions,
  resetRunOptions,
  useRunOptions,
} from "./runOptions";
import { fieldErrors, type PlanPreviewState, usePlanPreview } from "./usePlanPreview";

interface Props {
  /** The settings as of when the dialog was opened. */
  taskIds: readonly string[];
  onClose(): void;
}

/** Preview of a batch: its plan, and the options to change. */
export function PlanDialog({ taskIds, onClose }: Props) {
  const options = useRunOptions();
  const preview = usePlanPreview(buildBatchBody(options, taskIds));
  const errors = fieldErrors(preview.error);
  const readOnlyReason = useReadOnlyReason();
  const { start, busy, error } = useStart(options, taskIds, onClose);
  const disabledReason = readOnlyReason ?? whyNotStart(preview);
  const tasks = (preview.plan && countTasks(preview.plan)) || taskIds.length;
  const button = useId();
  // Enter starts the batch once the plan shows that it can start.
  useEffect(() => document.getElementById(button)?.focus(), [button]);
  return (
    <Dialog
      title={options.mode === "queue" ? "Run as a queue" : "Run in parallel"}
      size="large"
      onClose={onClose}
      actions={
        <>
          <p className={styles.disabledReason} role="status">
            {disabledReason ?? (busy ? "Checking the base, then starting." : null)}
          </p>
          <Button onClick={onClose}>Cancel</Button>
          <Button id={button} kind="primary" disabled={disabledReason} busy={busy} onClick={start}>
            Start {pluralize(tasks, "task")}
          </Button>
        </>
      }
    >
      <div className={styles.columns}>
        <div className={styles.plan}>
          {error !== null && <PlanError error={error} />}
          <PreviewPane preview={preview} options={options} />
        </div>
        <form className={styles.options} onSubmit={(event) => event.preventDefault()} aria-label="This run">
          <ModePicker />
          <AgentPicker error={errors.get("settings.agent") ?? errors.get("contest") ?? null} />
          <RunSettings errors={errors} />
          <SelectionOptions />
        </form>
      </div>
    </Dialog>
  );
}

function PreviewPane({ preview, options }: { preview: PlanPreviewState; options: RunOptions }) {
  if (preview.error) return <PlanError error={preview.error} again={preview.retry} />;
  if (preview.plan === undefined) return <LoadingState what="Planning" />;
  return (
    <div aria-busy={preview.stale} className={styles.preview}>
      <PlanProblems plan={preview.plan} />
      <PlanPreview plan={preview.plan} options={options} />
    </div>
  );
}

/** The server's message and hint, for example about untrusted settings. */
function PlanError({ error, again }: { error: unknown; again?: () => void }) {
  const { message, hint } = describeError(error);
  return (
    <div className={styles.error} role="alert">
      <p className={styles.message}>{message}</p>
      {hint && <p className={styles.muted}>{hint}</p>}
      {again && <Button onClick={again}>Try again</Button>}
    </div>
  );
}

const MODE_LABELS = { parallel: "Parallel", queue: "Queue" } as const;

function ModePicker() {
  const mode = useRunOptions((options) => options.mode);
  return (
    <SegmentedControl
      className={styles.modes}
      legend="Mode"
      options={MODE_LABELS}
      selected={mode}
      onSelect={(chosen) => useRunOptions.setState({ mode: chosen })}
    />
  );
}

/** One idempotency key per dialog: repeated clicks and lost responses create only one batch. */
function useStart(options: RunOptions, taskIds: readonly string[], onClose: () => void) {
  const key = useRef(newIdempotencyKey());
  const live = useLive();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const start = async () => {
    setBusy(true);
    setError(null);
    try {
      const created = await unwrap(
        api.POST("/api/batches", {
          params: { header: { "Idempotency-Key": key.current } },
          body: buildBatchBody(options, taskIds),
        }),
      );
      const note = created.accepted ? "It is saved; no engine has picked it up yet." : null;
      const action = { href: routes.review(created.id), text: `Open batch ${shortId(created.id)}` };
      showToast(`Started ${pluralize(created.tasks.length, "task")}`, note, { action });
      clearSelection();
      releaseFreeze();
      resetRunOptions();
      void live?.refresh();
      onClose();
    } catch (error) {
      setError(error);
    } finally {
      setBusy(false);
    }
  };
  return { start: () => void start(), busy, error };
}
