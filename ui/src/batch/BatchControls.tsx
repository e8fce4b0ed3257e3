import { useState } from "react";
import { type BatchAction, steerBatch, steerTask } from "../api/steer";
import type { BatchHead } from "../api/types";
import { useMayNot } from "../app/me";
import { count, short } from "../model/format";
import { Button, type ButtonProps } from "../parts/Button";
import { confirm } from "../parts/Confirm";
import { Icon } from "../parts/Icon";
import { useAsked } from "./asking";
import styles from "./BatchControls.module.css";
import { isOpen, lost } from "./watching";

interface Props {
  head: BatchHead;
  /** In a strip: what is needed while it runs, as icons where an icon is enough. */
  compact?: boolean;
}

/** What can be asked of a batch now. A button that was pressed is busy until it was answered; the rest is told by events. */
export function BatchControls({ head, compact = false }: Props) {
  const open = isOpen(head);
  return (
    <>
      {open && <Approve head={head} />}
      {open && !compact && <AskNoMore head={head} />}
      {open ? <GoOn head={head} compact={compact} /> : !compact && <Resume head={head} />}
      {!compact && <RetryLost head={head} />}
      {open && <Cancel head={head} compact={compact} />}
    </>
  );
}

function Steer({ act, ...rest }: Omit<ButtonProps, "onClick" | "busy"> & { act(): Promise<unknown> }) {
  const mayNot = useMayNot();
  const [busy, setBusy] = useState(false);
  const press = async () => {
    setBusy(true);
    await act().finally(() => setBusy(false));
  };
  return <Button {...rest} disabled={mayNot ?? rest.disabled} busy={busy} onClick={() => void press()} />;
}

/** By its name: of two people who press at once, one is told that the other has. */
function Approve({ head }: { head: BatchHead }) {
  const { approval } = useAsked(head);
  if (approval === null) return null;
  const { taskId } = approval;
  return (
    <Steer kind="primary" act={() => steerTask(head.id, taskId, "approve")} title={`Let ${taskId} start`}>
      <Icon name="check" />
      <span className={styles.cut}>Approve {taskId}</span>
    </Steer>
  );
}

function AskNoMore({ head }: { head: BatchHead }) {
  const { approval } = useAsked(head);
  if (approval === null) return null;
  return (
    <Steer
      act={() => steerBatch(head.id, "approve", { all: true })}
      title="Start the others of this queue without asking"
    >
      Approve all
    </Steer>
  );
}

function GoOn({ head, compact }: { head: BatchHead; compact: boolean }) {
  const paused = head.status === "paused";
  const going: BatchAction = head.progress.interrupted > 0 ? "resume" : "unpause";
  const [action, label]: [BatchAction, string] = paused ? [going, "Unpause"] : ["pause", "Pause"];
  const name = `${label} batch ${short(head.id)}`;
  return (
    <Steer
      act={() => steerBatch(head.id, action)}
      label={name}
      icon={compact}
      kind={compact ? "quiet" : "plain"}
      title={paused ? name : "Start nothing new; what runs goes on"}
    >
      <Icon name={paused ? "play" : "pause"} />
      {!compact && label}
    </Steer>
  );
}

function Resume({ head }: { head: BatchHead }) {
  if (head.progress.interrupted === 0) return null;
  return (
    <Steer act={() => steerBatch(head.id, "resume")} title="Interrupted attempts again, done tasks not">
      <Icon name="play" />
      Resume
    </Steer>
  );
}

function RetryLost({ head }: { head: BatchHead }) {
  const left = lost(head.progress);
  if (left === 0) return null;
  return (
    <Steer act={() => steerBatch(head.id, "retry")} title="Take up what failed, and what that held back">
      <Icon name="retry" />
      Retry {count(left, "task")}
    </Steer>
  );
}

function Cancel({ head, compact }: { head: BatchHead; compact: boolean }) {
  const name = `Cancel batch ${short(head.id)}`;
  const ask = async () => {
    const yes = await confirm({
      title: `${name}?`,
      text: "What runs is ended and given up. What was merged stays on its branch, and the tasks can be retried later.",
      action: "Cancel the batch",
      danger: true,
    });
    if (yes) await steerBatch(head.id, "cancel");
  };
  return (
    <Steer act={ask} label={name} icon={compact} kind={compact ? "quiet" : "danger"}>
      <Icon name="stop" />
      {!compact && "Cancel"}
    </Steer>
  );
}
