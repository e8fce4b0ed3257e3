import { useEffect, useId, useRef, useState } from "react";
import { api, inWords, told } from "../api/client";
import { to } from "../app/address";
import { useMayNot } from "../app/me";
import { useLive } from "../live/useLive";
import { count, short } from "../model/format";
import { Button } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import { Loading } from "../parts/Empty";
import { say } from "../parts/Toasts";
import { clear } from "../store/selection";
import { AgentChoice } from "./AgentChoice";
import { bodyOf, newKey, type Order, resetOrder, useOrder } from "./order";
import styles from "./PlanDialog.module.css";
import { PlanPreview } from "./PlanPreview";
import { Problems } from "./Problems";
import { NeedsChoice, RunSettings } from "./RunSettings";
import { tasksOf, whyNotStart } from "./starting";
import { fieldErrors, type Preview, usePlan } from "./usePlan";
import { watch } from "./watched";

interface Props {
  /** As they were when it was opened. */
  taskIds: readonly string[];
  onClose(): void;
}

/** What would happen, before it does: the plan of this order, and the order to change. */
export default function PlanDialog({ taskIds, onClose }: Props) {
  const order = useOrder();
  const preview = usePlan(bodyOf(order, taskIds));
  const errors = fieldErrors(preview.error);
  const mayNot = useMayNot();
  const { start, busy, refusal } = useStart(order, taskIds, onClose);
  const why = mayNot ?? whyNotStart(preview);
  const tasks = (preview.plan && tasksOf(preview.plan)) || taskIds.length;
  const button = useId();
  // Enter starts it, once it has been seen that it can be started.
  useEffect(() => document.getElementById(button)?.focus(), [button]);
  return (
    <Dialog
      title={order.mode === "queue" ? "Run as a queue" : "Run in parallel"}
      size="large"
      onClose={onClose}
      actions={
        <>
          <p className={styles.why} role="status">
            {why}
          </p>
          <Button onClick={onClose}>Not now</Button>
          <Button id={button} kind="primary" disabled={why} busy={busy} onClick={start}>
            Start {count(tasks, "task")}
          </Button>
        </>
      }
    >
      <div className={styles.columns}>
        <div className={styles.plan}>
          {refusal !== null && <Refusal error={refusal} />}
          <Shown preview={preview} order={order} />
        </div>
        <form className={styles.order} onSubmit={(event) => event.preventDefault()} aria-label="This run">
          <ModeChoice />
          <AgentChoice error={errors.get("settings.agent") ?? errors.get("contest") ?? null} />
          <RunSettings errors={errors} />
          <NeedsChoice />
        </form>
      </div>
    </Dialog>
  );
}

function Shown({ preview, order }: { preview: Preview; order: Order }) {
  if (preview.error) return <Refusal error={preview.error} again={preview.again} />;
  if (preview.plan === undefined) return <Loading what="Working out the plan" />;
  return (
    <div aria-busy={preview.stale} className={styles.shown}>
      <Problems plan={preview.plan} />
      <PlanPreview plan={preview.plan} order={order} />
    </div>
  );
}

/** In the server's words; what its settings name and nobody has trusted is told by its hint, too. */
function Refusal({ error, again }: { error: unknown; again?: () => void }) {
  const { message, hint } = inWords(error);
  return (
    <div className={styles.refusal} role="alert">
      <p>{message}</p>
      {hint && <p className={styles.soft}>{hint}</p>}
      {again && <Button onClick={again}>Try again</Button>}
    </div>
  );
}

function ModeChoice() {
  const mode = useOrder((order) => order.mode);
  return (
    <fieldset className={styles.modes}>
      <legend className="unseen">Mode</legend>
      {(["parallel", "queue"] as const).map((each) => (
        <label key={each} className={styles.mode} data-chosen={mode === each || undefined}>
          <input
            type="radio"
            name="mode"
            value={each}
            checked={mode === each}
            onChange={() => useOrder.setState({ mode: each })}
          />
          {each === "queue" ? "Queue" : "Parallel"}
        </label>
      ))}
    </fieldset>
  );
}

/** One key for each opening: however often it is pressed, and whatever answer gets lost, there is one batch. */
function useStart(order: Order, taskIds: readonly string[], onClose: () => void) {
  const key = useRef(newKey());
  const live = useLive();
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<unknown>(null);
  const start = async () => {
    setBusy(true);
    setRefusal(null);
    try {
      const made = await told(
        api.POST("/api/batches", {
          params: { header: { "Idempotency-Key": key.current } },
          body: bodyOf(order, taskIds),
        }),
      );
      const waits = made.accepted ? "It is safe, and no engine has taken it yet." : null;
      const link = { href: to.review(made.id), text: `Open batch ${short(made.id)}` };
      say(`Started ${count(made.tasks.length, "task")}`, waits, link);
      watch([made.id]);
      clear();
      resetOrder();
      void live?.refresh();
      onClose();
    } catch (error) {
      setRefusal(error);
    } finally {
      setBusy(false);
    }
  };
  return { start: () => void start(), busy, refusal };
}
