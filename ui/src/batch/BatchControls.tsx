import { useState } from "react";
import { type BatchAction, sendBatchAction, sendTaskAction } from "../api/actions";
import type { BatchSummary } from "../api/types";
import { useReadOnlyReason } from "../app/access";
import { Button, type ButtonProps } from "../components/Button";
import { confirm } from "../components/ConfirmDialog";
import { Icon } from "../components/Icon";
import { pluralize, shortId } from "../model/format";
import styles from "./BatchControls.module.css";
import { countRetryable, isOpen, useBatchPrompt } from "./batchStatus";
import { RaiseBudget } from "./RaiseBudget";

interface Props {
  batch: BatchSummary;
  /** In a strip, only the actions needed while it runs, as icons where possible. */
  compact?: boolean;
}

/** Actions on a batch. A pressed button is busy until the server responds; events show the result. */
export function BatchControls({ batch, compact = false }: Props) {
  const open = isOpen(batch);
  return (
    <>
      {open && !compact && <ApproveButton batch={batch} />}
      {open && !compact && <ApproveAllButton batch={batch} />}
      {batch.status === "paused" && batch.pauseCause === "budget" ? (
        !compact && <RaiseBudget batch={batch} />
      ) : open ? (
        <PauseButton batch={batch} compact={compact} />
      ) : (
        !compact && <ResumeButton batch={batch} />
      )}
      {!compact && <RetryFailedButton batch={batch} />}
      {open && <CancelButton batch={batch} compact={compact} />}
    </>
  );
}

/** Busy until the server responds. */
export function ActionButton({
  run,
  ...rest
}: Omit<ButtonProps, "onClick" | "busy"> & { run(): Promise<unknown> }) {
  const readOnlyReason = useReadOnlyReason();
  const [busy, setBusy] = useState(false);
  const onPress = async () => {
    setBusy(true);
    await run().finally(() => setBusy(false));
  };
  return (
    <Button {...rest} disabled={readOnlyReason ?? rest.disabled} busy={busy} onClick={() => void onPress()} />
  );
}

/** Approves by task id: if two people press at once, the second is refused. */
function ApproveButton({ batch }: { batch: BatchSummary }) {
  const { approval } = useBatchPrompt(batch);
  if (approval === null) return null;
  const { taskId } = approval;
  return (
    <ActionButton
      kind="primary"
      run={() => sendTaskAction(batch.id, taskId, "approve")}
      title={`Approve ${taskId} so that it can start`}
    >
      <Icon name="check" />
      <span className={styles.ellipsis}>Approve {taskId}</span>
    </ActionButton>
  );
}

function ApproveAllButton({ batch }: { batch: BatchSummary }) {
  const { approval } = useBatchPrompt(batch);
  if (approval === null) return null;
  return (
    <ActionButton
      run={() => sendBatchAction(batch.id, "approve", { all: true })}
      title="Start the remaining tasks of this queue without asking"
    >
      Approve all
    </ActionButton>
  );
}

function PauseButton({ batch, compact }: { batch: BatchSummary; compact: boolean }) {
  const paused = batch.status === "paused";
  const resume: BatchAction = batch.progress.interrupted > 0 ? "resume" : "unpause";
  const [action, label]: [BatchAction, string] = paused ? [resume, "Unpause"] : ["pause", "Pause"];
  const name = `${label} batch ${shortId(batch.id)}`;
  return (
    <ActionButton
      run={() => sendBatchAction(batch.id, action)}
      label={name}
      icon={compact}
      kind={compact ? "quiet" : "plain"}
      title={paused ? name : "Start no new tasks; running tasks continue"}
    >
      <Icon name={paused ? "play" : "pause"} />
      {!compact && label}
    </ActionButton>
  );
}

function ResumeButton({ batch }: { batch: BatchSummary }) {
  if (batch.progress.interrupted === 0) return null;
  return (
    <ActionButton
      run={() => sendBatchAction(batch.id, "resume")}
      title="Rerun interrupted attempts; finished tasks stay as they are"
    >
      <Icon name="play" />
      Resume
    </ActionButton>
  );
}

function RetryFailedButton({ batch }: { batch: BatchSummary }) {
  const retryable = countRetryable(batch.progress);
  if (retryable === 0) return null;
  return (
    <ActionButton
      run={() => sendBatchAction(batch.id, "retry")}
      title="Retry failed tasks and the ones they blocked"
    >
      <Icon name="retry" />
      Retry {pluralize(retryable, "task")}
    </ActionButton>
  );
}

function CancelButton({ batch, compact }: { batch: BatchSummary; compact: boolean }) {
  const name = `Cancel batch ${shortId(batch.id)}`;
  const ask = async () => {
    const yes = await confirm({
      title: `${name}?`,
      text: "Running attempts are stopped and discarded. Merged changes stay on the batch branch, and you can retry the tasks later.",
      action: "Cancel the batch",
      danger: true,
    });
    if (yes) await sendBatchAction(batch.id, "cancel");
  };
  return (
    <ActionButton run={ask} label={name} icon={compact} kind={compact ? "quiet" : "danger"}>
      <Icon name="stop" />
      {!compact && "Cancel"}
    </ActionButton>
  );
}
