import { useAgents } from "../api/agents";
import type { AgentInfo } from "../api/types";
import { pluralize } from "../model/format";
import { ErrorState, LoadingState } from "../parts/Empty";
import { Checkbox, Field } from "./Field";
import { useRunOptions } from "./order";
import styles from "./RunForm.module.css";

/** Who works the tasks that name nobody. Several share the tasks; in a contest each of them does every task. */
export function AgentPicker({ error }: { error?: string | null }) {
  const { data, error: failure, refetch } = useAgents();
  if (failure) return <ErrorState error={failure} onRetry={() => void refetch()} />;
  if (data === undefined) return <LoadingState what="Looking for agents" />;
  const installed = data.filter(({ available }) => available);
  const missing = data.filter(({ available }) => !available);
  return (
    <fieldset className={styles.group}>
      <legend>Agents</legend>
      <p className={styles.note}>{describeDefaultAgents(data)}</p>
      {installed.map((agent) => (
        <AgentCheckbox key={agent.name} agent={agent} />
      ))}
      {missing.length > 0 && (
        <details className={styles.away}>
          <summary>{pluralize(missing.length, "more agent")} not installed here</summary>
          {missing.map((agent) => (
            <AgentCheckbox key={agent.name} agent={agent} />
          ))}
        </details>
      )}
      {error && (
        <p className={styles.wrong} role="alert">
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
    ? `None chosen: ${defaults.join(", ")}, as the settings say.`
    : "None chosen: as the settings say.";
}

function AgentCheckbox({ agent: { name, available, install, problem, login, model } }: { agent: AgentInfo }) {
  const selected = useRunOptions((order) => order.agents);
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

function ContestFields() {
  const { contest, times } = useRunOptions();
  return (
    <>
      <Checkbox
        label="Contest"
        note="Every task by each agent; the best result is merged."
        checked={contest}
        onChange={(on) => useRunOptions.setState({ contest: on })}
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
                useRunOptions.setState({ times: Math.max(1, Math.min(9, Number(target.value) || 1)) })
              }
            />
          )}
        </Field>
      )}
    </>
  );
}
