import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useId } from "react";
import { api, unwrap } from "../api/client";
import { useAgents, useSettingSchema } from "../api/queries";
import type { AgentInfo, Preferences } from "../api/types";
import { ErrorState, LoadingState } from "../components/EmptyState";
import { Select } from "../components/Select";
import { pluralize } from "../model/format";
import { CHOICE_MEANINGS, settingTitle } from "../settings/commonSettings";
import styles from "./RunForm.module.css";
import { fieldValue, type NeedsPolicy, type SettingName, useRunOptions, withSetting } from "./runOptions";

const NO_ERRORS: ReadonlyMap<string, string> = new Map();

/** Options for this run only; the fields show the settings until they are changed. */
export function RunSettings({ errors = NO_ERRORS }: { errors?: ReadonlyMap<string, string> }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["settings", "run"],
    queryFn: ({ signal }) => unwrap(api.GET("/api/settings", { signal })),
  });
  const schema = useSettingSchema();
  const queue = useRunOptions((options) => options.mode === "queue");
  if (error ?? schema.error)
    return (
      <ErrorState
        error={error ?? schema.error}
        onRetry={() => void Promise.all([refetch(), schema.refetch()])}
      />
    );
  if (data === undefined || schema.data === undefined) return <LoadingState what="Loading settings" />;
  const titles = new Map(schema.data.settings.map((setting) => [setting.name, settingTitle(setting)]));
  const titled = (name: SettingName) => ({ preferences: data, name, label: titles.get(name) ?? name });
  const text = (name: SettingName, hint = "") => (
    <SettingText {...titled(name)} hint={hint} error={errors.get(`settings.${name}`)} />
  );
  return (
    <fieldset className={styles.group}>
      <legend>Run settings</legend>
      {!queue && text("maxBatchSize")}
      {text("retries")}
      {text("timeout", "60m")}
      {text("budget", "none")}
      {text("verify", "none")}
      {text("gate", "none")}
      <SettingSelect {...titled("conflictBehavior")} />
      <SettingSwitch {...titled("stopOnFailure")} />
      <SettingSwitch {...titled("preflight")} />
      {queue && <SettingSwitch {...titled("queueAutoApprove")} />}
    </fieldset>
  );
}

interface SettingProps {
  preferences: Preferences;
  name: SettingName;
  /** As on the settings page. */
  label: string;
}

interface SettingTextProps extends SettingProps {
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

function SettingSwitch({ preferences, name, label }: SettingProps) {
  const [value, change] = useSetting(preferences, name);
  return <Checkbox label={label} checked={value === true} onChange={change} />;
}

/** A setting whose choices need explaining. */
function SettingSelect({ preferences, name, label }: SettingProps) {
  const [value, change] = useSetting(preferences, name);
  return (
    <Field label={label}>
      {(control) => (
        <Select
          {...control}
          options={Object.entries(CHOICE_MEANINGS[name] ?? {})}
          value={String(value)}
          onSelect={change}
        />
      )}
    </Field>
  );
}

function useSetting(
  preferences: Preferences,
  name: SettingName,
): [string | boolean, (value: string | boolean) => void] {
  const current = fieldValue(preferences, name);
  const override = useRunOptions((options) => options.settings[name]);
  return [
    override ?? current,
    (value) => useRunOptions.setState((options) => withSetting(options, name, value, current)),
  ];
}

/** How to treat completed tasks, and dependencies outside of the selection. */
export function SelectionOptions() {
  const { needs, again } = useRunOptions();
  const setPolicy = (next: NeedsPolicy) => (on: boolean) =>
    useRunOptions.setState({ needs: on ? next : "asked" });
  return (
    <>
      <fieldset className={styles.group}>
        <legend>Selected tasks that an earlier batch completed</legend>
        <Checkbox
          label="Run them again"
          checked={again}
          onChange={(on) => useRunOptions.setState({ again: on })}
        />
      </fieldset>
      <fieldset className={styles.group}>
        <legend>Needed tasks that are not selected</legend>
        <Checkbox label="Run them too" checked={needs === "with"} onChange={setPolicy("with")} />
        <Checkbox label="Ignore them" checked={needs === "without"} onChange={setPolicy("without")} />
      </fieldset>
    </>
  );
}

/** The agents of tasks that name none. Several share the tasks; in a contest each does every task. */
export function AgentPicker({ error }: { error?: string | null }) {
  const { data: known, error: failure, refetch } = useAgents();
  if (failure) return <ErrorState error={failure} onRetry={() => void refetch()} />;
  if (known === undefined) return <LoadingState what="Loading agents" />;
  const installed = known.agents.filter(({ available }) => available);
  const missing = known.agents.filter(({ available }) => !available);
  return (
    <fieldset className={styles.group}>
      <legend>Agents</legend>
      <p className={styles.note}>{describeDefaultAgents(known.agents)}</p>
      {installed.map((agent) => (
        <AgentCheckbox key={agent.name} agent={agent} />
      ))}
      {missing.length > 0 && (
        <details className={styles.missing}>
          <summary>{pluralize(missing.length, "more agent")} not installed</summary>
          {missing.map((agent) => (
            <AgentCheckbox key={agent.name} agent={agent} />
          ))}
        </details>
      )}
      {error && (
        <p className={styles.error} role="alert">
          {error}
        </p>
      )}
      <ContestFields />
    </fieldset>
  );
}

function describeDefaultAgents(agents: readonly AgentInfo[]): string {
  const defaults = agents.filter((agent) => agent.default).map(({ name }) => name);
  return defaults.length > 0
    ? `None selected: uses ${defaults.join(", ")} from the settings.`
    : "None selected: uses the agents from the settings.";
}

function AgentCheckbox({ agent: { name, available, install, problem, login, model } }: { agent: AgentInfo }) {
  const selected = useRunOptions((options) => options.agents);
  const problemText = available
    ? problem
    : (problem ?? (install ? `Not installed: ${install}` : "Not installed."));
  const loginHint =
    available && login.loggedIn === "no" && login.how !== null ? `Not logged in: ${login.how}` : null;
  return (
    <Checkbox
      label={name}
      note={problemText ?? loginHint ?? model}
      disabled={available ? null : problemText}
      checked={selected.includes(name)}
      onChange={(on) =>
        useRunOptions.setState({
          agents: on ? [...selected, name] : selected.filter((each) => each !== name),
        })
      }
    />
  );
}

const RUN_COUNTS = Array.from("123456789", (count) => [count, count] as const);

function ContestFields() {
  const { contest, times } = useRunOptions();
  return (
    <>
      <Checkbox
        label="Contest"
        note="Run every task with each agent and merge the best result."
        checked={contest}
        onChange={(on) => useRunOptions.setState({ contest: on })}
      />
      {contest && (
        <Field label="Runs per agent">
          {(control) => (
            <Select
              {...control}
              options={RUN_COUNTS}
              value={String(times)}
              onSelect={(count) => useRunOptions.setState({ times: Number(count) })}
            />
          )}
        </Field>
      )}
    </>
  );
}

interface Props {
  label: string;
  /** The server's error message about this field. */
  error?: string | null | undefined;
  /** Renders the control with the ids of its label and its error. */
  children(control: {
    id: string;
    "aria-invalid": boolean;
    "aria-describedby": string | undefined;
  }): ReactNode;
}

/** A label, a control, and the error below it. */
function Field({ label, error, children }: Props) {
  const id = useId();
  const wrong = error ? `${id}-wrong` : undefined;
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {children({ id, "aria-invalid": Boolean(error), "aria-describedby": wrong })}
      {error && (
        <p id={wrong} className={styles.fieldError} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

interface CheckboxProps {
  label: string;
  checked: boolean;
  onChange(checked: boolean): void;
  disabled?: string | null;
  /** A note beside the label. */
  note?: string | null;
}

function Checkbox({ label, checked, onChange, disabled = null, note = null }: CheckboxProps) {
  return (
    <label className={styles.check} title={disabled ?? undefined} data-off={disabled !== null || undefined}>
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled !== null}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span>
        {label}
        {note && <span className={styles.hint}>{note}</span>}
      </span>
    </label>
  );
}
