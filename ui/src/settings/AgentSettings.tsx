/* Installed agents, the default agents and their models. */

import { useId } from "react";
import { useAgents } from "../api/queries";
import type { AgentInfo } from "../api/types";
import { useReadOnlyReason } from "../app/access";
import { ErrorState, LoadingState } from "../components/EmptyState";
import { Icon } from "../components/Icon";
import { pluralize } from "../model/format";
import styles from "./AgentSettings.module.css";
import { type SettingFieldProps, useFieldDraft } from "./SettingField";
import fields from "./SettingField.module.css";
import { SettingRow } from "./SettingRow";
import { type SettingEntry, useSave } from "./useSettings";
import { toggleChoice, withEntry } from "./values";

const WITHOUT_MODEL: ReadonlySet<string> = new Set(["shell", "command"]); // these run a given command and have no model

export function AgentSettings({ all }: { all: ReadonlyMap<string, SettingEntry> }) {
  const { data, error, refetch } = useAgents();
  const [agent, models] = [all.get("agent"), all.get("models")];
  if (data === undefined)
    return error === null ? (
      <LoadingState what="Loading agents" />
    ) : (
      <ErrorState error={error} onRetry={() => void refetch()} />
    );
  return (
    <>
      {agent && (
        <SettingRow
          entry={agent}
          renderField={(props) => <DefaultAgents {...props} agents={data.agents} />}
        />
      )}
      {models && <AgentLists agents={data.agents} models={models} />}
      {["model", "agentCommand"].map((name) => {
        const entry = all.get(name);
        return entry && <SettingRow key={name} entry={entry} />;
      })}
    </>
  );
}

/** Installed agents first, then the others. */
function AgentLists({ agents, models }: { agents: readonly AgentInfo[]; models: SettingEntry }) {
  const renderList = (which: readonly AgentInfo[]) => (
    <ul className={styles.agents}>
      {which.map((each) => (
        <AgentItem key={each.name} agent={each} models={models} />
      ))}
    </ul>
  );
  const missing = agents.filter(({ available }) => !available);
  return (
    <>
      {renderList(agents.filter(({ available }) => available))}
      {missing.length > 0 && (
        <details className={styles.missing}>
          <summary>{pluralize(missing.length, "agent")} not installed</summary>
          {renderList(missing)}
        </details>
      )}
    </>
  );
}

/** Installed agents, and selected ones that aren't installed. */
function DefaultAgents(props: SettingFieldProps & { agents: readonly AgentInfo[] }) {
  const { value, save, agents, disabled, labelledBy, describedBy } = props;
  const selected = Array.isArray(value) ? value.map(String) : [];
  const installed = agents.filter(({ available }) => available).map(({ name }) => name);
  const offered = [...installed, ...selected.filter((name) => !installed.includes(name))];
  const first = agents.find((agent) => agent.default)?.name;
  return (
    <fieldset
      className={`${fields.radios} ${fields.plain}`}
      aria-labelledby={labelledBy}
      aria-describedby={describedBy}
    >
      {offered.map((name) => (
        <label key={name} className={fields.option}>
          <input
            type="checkbox"
            checked={selected.includes(name)}
            disabled={disabled}
            onChange={({ target: { checked } }) => void save((known) => toggleChoice(known, name, checked))}
          />
          {name}
        </label>
      ))}
      {selected.length === 0 && first !== undefined && (
        <p className={fields.meaning}>None selected: {first} is used.</p>
      )}
    </fieldset>
  );
}

function AgentItem({ agent, models }: { agent: AgentInfo; models: SettingEntry }) {
  const { name, description, available } = agent;
  return (
    <li className={styles.agent} data-off={!available || undefined}>
      <div className={styles.name}>
        <h4>{name}</h4>
        <p className={styles.muted}>{description}</p>
      </div>
      <AgentStatus agent={agent} />
      {available && !WITHOUT_MODEL.has(name) && <ModelField name={name} models={models} />}
    </li>
  );
}

function AgentStatus({ agent: { available, version, problem, install, login } }: { agent: AgentInfo }) {
  if (!available)
    return (
      <p className={styles.status}>
        Not installed
        {install && (
          <>
            : <code>{install}</code>
          </>
        )}
      </p>
    );
  const state = { yes: "logged in", no: "not logged in", unknown: "" }[String(login.loggedIn)] ?? "";
  return (
    <p className={styles.status}>
      <span className={styles.ok}>
        <Icon name="check" size={14} /> Installed{version && ` ${version}`}
      </span>
      {state !== "" && <span>{login.by && state === "logged in" ? `${state} by ${login.by}` : state}</span>}
      {state === "not logged in" && login.how && <span>{login.how}</span>}
      {problem && <span className={styles.error}>{problem}</span>}
    </p>
  );
}

/** The model of one agent: one entry of the table of models. */
function ModelField({ name, models }: { name: string; models: SettingEntry }) {
  const id = useId();
  const readOnlyReason = useReadOnlyReason();
  const { result, save, cancel } = useSave("models");
  const byAgent = models.value as Readonly<Record<string, unknown>>;
  const commit = (text: string) => save((known) => withEntry(known, name, text.trim()));
  const { field } = useFieldDraft(String(byAgent[name] ?? ""), { commit, cancel });
  return (
    <div className={styles.model}>
      <label htmlFor={id} className="visually-hidden">
        Model for {name}
      </label>
      <input
        id={id}
        type="text"
        className={`${fields.text} ${fields.mono}`}
        placeholder="agent's default"
        disabled={readOnlyReason !== null}
        {...field}
      />
      <span role="status" className={result.state === "refused" ? styles.error : styles.muted}>
        {result.state === "refused" ? result.message : result.state === "saved" ? "Saved" : ""}
      </span>
    </div>
  );
}
