/* Who can work here, who does where a task names nobody, and with which model. */

import { useId } from "react";
import { useAgents } from "../api/agents";
import type { AgentInfo } from "../api/types";
import { useMayNot } from "../app/me";
import { count } from "../model/format";
import { Failure, Loading } from "../parts/Empty";
import { Icon } from "../parts/Icon";
import styles from "./Agents.module.css";
import type { FieldProps } from "./fields";
import fields from "./fields.module.css";
import { SettingRow } from "./SettingRow";
import { useDraft } from "./useDraft";
import { type Told, useSave } from "./useSettings";
import { toggled, withEntry } from "./values";

const NO_MODEL: ReadonlySet<string> = new Set(["shell", "command"]); // they run what they are told

export function Agents({ all }: { all: ReadonlyMap<string, Told> }) {
  const { data, error, refetch } = useAgents();
  const [agent, models] = [all.get("agent"), all.get("models")];
  if (data === undefined)
    return error === null ? (
      <Loading what="Asking the agents for their versions" />
    ) : (
      <Failure error={error} again={() => void refetch()} />
    );
  return (
    <>
      {agent && (
        <SettingRow
          told={agent}
          title="Default agents"
          draw={(props) => <DefaultAgents {...props} agents={data} />}
        />
      )}
      {models && <Known agents={data} models={models} />}
      {["model", "agentCommand"].map((name) => {
        const told = all.get(name);
        return (
          told && (
            <SettingRow
              key={name}
              told={told}
              title={name === "model" ? "Model of all agents" : "Any command as the agent"}
            />
          )
        );
      })}
    </>
  );
}

/** Those that are here, and behind them those that could be. */
function Known({ agents, models }: { agents: readonly AgentInfo[]; models: Told }) {
  const list = (which: readonly AgentInfo[]) => (
    <ul className={styles.agents}>
      {which.map((each) => (
        <Agent key={each.name} agent={each} models={models} />
      ))}
    </ul>
  );
  const away = agents.filter(({ available }) => !available);
  return (
    <>
      {list(agents.filter(({ available }) => available))}
      {away.length > 0 && (
        <details className={styles.away}>
          <summary>{count(away.length, "agent")} not installed</summary>
          {list(away)}
        </details>
      )}
    </>
  );
}

/** Those that are installed, and those that are chosen though they are not. */
function DefaultAgents(props: FieldProps & { agents: readonly AgentInfo[] }) {
  const { value, save, agents, disabled, labelledBy, describedBy } = props;
  const chosen = Array.isArray(value) ? value.map(String) : [];
  const installed = agents.filter(({ available }) => available).map(({ name }) => name);
  const offered = [...installed, ...chosen.filter((name) => !installed.includes(name))];
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
            checked={chosen.includes(name)}
            disabled={disabled}
            onChange={({ target: { checked } }) => void save((known) => toggled(known, name, checked))}
          />
          {name}
        </label>
      ))}
      {chosen.length === 0 && first !== undefined && (
        <p className={fields.meaning}>None chosen: {first} works.</p>
      )}
    </fieldset>
  );
}

function Agent({ agent, models }: { agent: AgentInfo; models: Told }) {
  const { name, description, available } = agent;
  return (
    <li className={styles.agent} data-off={!available || undefined}>
      <div className={styles.who}>
        <h4>{name}</h4>
        <p className={styles.soft}>{description}</p>
      </div>
      <Standing agent={agent} />
      {available && !NO_MODEL.has(name) && <Model name={name} models={models} />}
    </li>
  );
}

function Standing({ agent: { available, version, problem, install, login } }: { agent: AgentInfo }) {
  if (!available)
    return (
      <p className={styles.standing}>
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
    <p className={styles.standing}>
      <span className={styles.good}>
        <Icon name="check" size={14} /> Installed{version && ` ${version}`}
      </span>
      {state !== "" && <span>{login.by && state === "logged in" ? `${state} by ${login.by}` : state}</span>}
      {state === "not logged in" && login.how && <span>{login.how}</span>}
      {problem && <span className={styles.bad}>{problem}</span>}
    </p>
  );
}

/** The model of one agent: one entry of the table of models. */
function Model({ name, models }: { name: string; models: Told }) {
  const id = useId();
  const mayNot = useMayNot();
  const { outcome, save, giveUp } = useSave("models");
  const table = models.value as Readonly<Record<string, unknown>>;
  const commit = (text: string) => save((known) => withEntry(known, name, text.trim()));
  const { field } = useDraft(String(table[name] ?? ""), { commit, giveUp });
  return (
    <div className={styles.model}>
      <label htmlFor={id} className="unseen">
        Model of {name}
      </label>
      <input
        id={id}
        type="text"
        className={`${fields.text} ${fields.mono}`}
        placeholder="its own model"
        disabled={mayNot !== null}
        {...field}
      />
      <span role="status" className={outcome.is === "refused" ? styles.bad : styles.soft}>
        {outcome.is === "refused" ? outcome.message : outcome.is === "saved" ? "Saved" : ""}
      </span>
    </div>
  );
}
