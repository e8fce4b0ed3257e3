import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "../api/client";
import type { Preferences } from "../api/types";
import { ErrorState, LoadingState } from "../parts/Empty";
import { Checkbox, Field } from "./Field";
import { fieldValue, type NeedsPolicy, type SettingName, useRunOptions, withSetting } from "./order";
import styles from "./RunForm.module.css";

const NO_ERRORS: ReadonlyMap<string, string> = new Map();

/** What counts for this run alone: the fields hold what the settings say until something else is said. */
export function RunSettings({ errors = NO_ERRORS }: { errors?: ReadonlyMap<string, string> }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["settings", "run"],
    queryFn: ({ signal }) => unwrap(api.GET("/api/settings", { signal })),
  });
  const queue = useRunOptions((order) => order.mode === "queue");
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <LoadingState what="Reading the settings" />;
  const text = (name: SettingName, label: string, hint = "") => (
    <SettingText
      preferences={data}
      name={name}
      label={label}
      hint={hint}
      error={errors.get(`settings.${name}`)}
    />
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
      <ConflictPicker preferences={data} />
      <SettingSwitch preferences={data} name="stopOnFailure" label="Stop on failure" />
      {queue && (
        <SettingSwitch preferences={data} name="queueAutoApprove" label="Start the next without approval" />
      )}
    </fieldset>
  );
}

interface SettingTextProps {
  preferences: Preferences;
  name: SettingName;
  label: string;
  hint: string;
  error: string | undefined;
}

function SettingText({ preferences, name, label, hint, error }: SettingTextProps) {
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

function SettingSwitch({
  preferences,
  name,
  label,
}: {
  preferences: Preferences;
  name: SettingName;
  label: string;
}) {
  const [value, change] = useSetting(preferences, name);
  return <Checkbox label={label} checked={value === true} onChange={change} />;
}

function ConflictPicker({ preferences }: { preferences: Preferences }) {
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
  name: SettingName,
): [string | boolean, (value: string | boolean) => void] {
  const current = fieldValue(preferences, name);
  const override = useRunOptions((order) => order.settings[name]);
  return [
    override ?? current,
    (value) => useRunOptions.setState((order) => withSetting(order, name, value, current)),
  ];
}

/** What is to be done about needs outside of the selection. */
export function NeedsPicker() {
  const needs = useRunOptions((order) => order.needs);
  const setPolicy = (next: NeedsPolicy) => (on: boolean) =>
    useRunOptions.setState({ needs: on ? next : "asked" });
  return (
    <fieldset className={styles.group}>
      <legend>Needs that are not selected</legend>
      <Checkbox label="Run them too" checked={needs === "with"} onChange={setPolicy("with")} />
      <Checkbox label="Go without them" checked={needs === "without"} onChange={setPolicy("without")} />
    </fieldset>
  );
}
