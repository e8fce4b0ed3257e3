import { type FormEvent, useState } from "react";
import { sendBatchAction } from "../api/actions";
import type { BatchSummary } from "../api/types";
import { useReadOnlyReason } from "../app/access";
import { Button } from "../components/Button";
import { shortId } from "../model/format";
import { formatBudget } from "./batchStatus";
import styles from "./RaiseBudget.module.css";

/** A higher budget, with which a batch that its budget paused continues. */
export function RaiseBudget({ batch: { id, settings } }: { batch: BatchSummary }) {
  const readOnlyReason = useReadOnlyReason();
  const [budget, setBudget] = useState("");
  const [busy, setBusy] = useState(false);
  const now = formatBudget(settings.budget);
  const reason =
    readOnlyReason ?? (budget.trim() === "" ? `Write an amount that is more than ${now}.` : null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (reason !== null || busy) return;
    setBusy(true);
    await sendBatchAction(id, "unpause", { budget: budget.trim() });
    setBusy(false);
  };
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)}>
      <input
        type="text"
        aria-label={`New budget of batch ${shortId(id)}`}
        placeholder={`now ${now}`}
        autoComplete="off"
        spellCheck={false}
        value={budget}
        onChange={({ target }) => setBudget(target.value)}
      />
      <Button type="submit" kind="primary" disabled={reason} busy={busy}>
        Raise the budget
      </Button>
    </form>
  );
}
