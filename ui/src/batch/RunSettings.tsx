import { useQuery } from "@tanstack/react-query";
import { api, told } from "../api/client";
import type { Preferences } from "../api/types";
import { Failure, Loading } from "../parts/Empty";
import { Check, Field } from "./Field";
import { inField, type Name, type Needs, setting, useOrder } from "./order";
import styles from "./RunForm.module.css";

const NO_ERRORS: ReadonlyMap<string, string> = new Map();

/** What counts for this run alone: the fields hold what the settings say until something else is said. */
export function RunSettings({ errors = NO_ERRORS }: { errors?: ReadonlyMap<string, string> }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["settings", "run"],
    queryFn: ({ signal }) => told(api.GET("/api/settings", { signal })),
  });
  const queue = useOrder((order) => order.mode === "queue");
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (data === undefined) return <Loading what="Reading the settings" />;
  const text = (name: Name, label: string, hint = "") => (
    <Text preferences={data} name={name} label={label} hint={hint} error={errors.get(`settings.${name}`)} />
  );
  return (
    <fieldset className={styles.group}>
      <legend>Settings of this run</legend>
      {!queue && text("maxBatchSize", "Attempts at once")}
      {text("retries", "Retries")}
      {text("timeout", "Timeout", "60m")}
      {text("budget", "Budget", "none")}
      {text("verify", "Verify", "none")}
      {text("gate", "Gate", "none")}
      <OnConflict preferences={data} />
      <Switch preferences={data} name="stopOnFailure" label="Stop on failure" />
      {queue && <Switch preferences={data} name="queueAutoApprove" label="Start the next without approval" />}
    </fieldset>
  );
}

interface TextProps {
  preferences: Preferences;
  name: Name;
  label: string;
  hint: string;
  error: string | undefined;
}

function Text({ preferences, name, label, hint, error }: TextProps) {
  const [value, change] = useSetting(preferences, name);
  return (
    <Field label={label} error={error}>
      {(control) => (
        <input
          {...control}
          type="text"
          placeholder={hint}
          autoComplete="off"
          spellCheck={false}
          value={String(value)}
          onChange={({ target }) => change(target.value)}
        />
      )}
    </Field>
  );
}

function Switch({ preferences, name, label }: { preferences: Preferences; name: Name; label: string }) {
  const [value, change] = useSetting(preferences, name);
  return <Check label={label} checked={value === true} onChange={change} />;
}

function OnConflict({ preferences }: { preferences: Preferences }) {
  const [value, change] = useSetting(preferences, "conflictBehavior");
  return (
    <Field label="After a conflict">
      {(control) => (
        <select {...control} value={String(value)} onChange={({ target }) => change(target.value)}>
          <option value="skip">Skip the task</option>
          <option value="fail">Stop the batch</option>
          <option value="repair">Have it repaired</option>
        </select>
      )}
    </Field>
  );
}

function useSetting(
  preferences: Preferences,
  name: Name,
): [string | boolean, (value: string | boolean) => void] {
  const inForce = inField(preferences, name);
  const said = useOrder((order) => order.settings[name]);
  return [said ?? inForce, (value) => useOrder.setState((order) => setting(order, name, value, inForce))];
}

/** What is to be done about needs outside of the selection. */
export function NeedsChoice() {
  const needs = useOrder((order) => order.needs);
  const choose = (next: Needs) => (on: boolean) => useOrder.setState({ needs: on ? next : "asked" });
  return (
    <fieldset className={styles.group}>
      <legend>Needs that are not selected</legend>
      <Check label="Run them too" checked={needs === "with"} onChange={choose("with")} />
      <Check label="Go without them" checked={needs === "without"} onChange={choose("without")} />
    </fieldset>
  );
}
