import { useAgents } from "../api/agents";
import type { AgentInfo } from "../api/types";
import { count } from "../model/format";
import { Failure, Loading } from "../parts/Empty";
import { Check, Field } from "./Field";
import { useOrder } from "./order";
import styles from "./RunForm.module.css";

/** Who works the tasks that name nobody. Several share the tasks; in a contest each of them does every task. */
export function AgentChoice({ error }: { error?: string | null }) {
  const { data, error: failure, refetch } = useAgents();
  if (failure) return <Failure error={failure} again={() => void refetch()} />;
  if (data === undefined) return <Loading what="Looking for agents" />;
  const here = data.filter(({ available }) => available);
  const away = data.filter(({ available }) => !available);
  return (
    <fieldset className={styles.group}>
      <legend>Agents</legend>
      <p className={styles.note}>{asSettingsSay(data)}</p>
      {here.map((agent) => (
        <Agent key={agent.name} agent={agent} />
      ))}
      {away.length > 0 && (
        <details className={styles.away}>
          <summary>{count(away.length, "more agent")} not installed here</summary>
          {away.map((agent) => (
            <Agent key={agent.name} agent={agent} />
          ))}
        </details>
      )}
      {error && (
        <p className={styles.wrong} role="alert">
          {error}
        </p>
      )}
      <Contest />
    </fieldset>
  );
}

function asSettingsSay(agents: readonly AgentInfo[]): string {
  const chosen = agents.filter((agent) => agent.default).map(({ name }) => name);
  return chosen.length > 0
    ? `None chosen: ${chosen.join(", ")}, as the settings say.`
    : "None chosen: as the settings say.";
}

function Agent({ agent: { name, available, install, problem, login, model } }: { agent: AgentInfo }) {
  const chosen = useOrder((order) => order.agents);
  const why = available ? problem : (problem ?? (install ? `Not installed: ${install}` : "Not installed."));
  const out =
    available && login.loggedIn === "no" && login.how !== null ? `Not logged in: ${login.how}` : null;
  return (
    <Check
      label={name}
      note={why ?? out ?? model}
      disabled={available ? null : why}
      checked={chosen.includes(name)}
      onChange={(on) =>
        useOrder.setState({ agents: on ? [...chosen, name] : chosen.filter((each) => each !== name) })
      }
    />
  );
}

function Contest() {
  const { contest, times } = useOrder();
  return (
    <>
      <Check
        label="Contest"
        note="Every task by each agent; the best result is merged."
        checked={contest}
        onChange={(on) => useOrder.setState({ contest: on })}
      />
      {contest && (
        <Field label="Tries of each agent">
          {(control) => (
            <input
              {...control}
              type="number"
              min={1}
              max={9}
              value={times}
              onChange={({ target }) =>
                useOrder.setState({ times: Math.max(1, Math.min(9, Number(target.value) || 1)) })
              }
            />
          )}
        </Field>
      )}
    </>
  );
}
