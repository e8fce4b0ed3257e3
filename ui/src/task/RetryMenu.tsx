import { useAgents } from "../api/agents";
import type { AgentInfo } from "../api/types";
import { Button } from "../parts/Button";
import { Failure, Loading } from "../parts/Empty";
import { Icon } from "../parts/Icon";
import { Popover } from "../parts/Popover";
import styles from "./Actions.module.css";

interface Props {
  disabled: string | null;
  /** Who did it last. */
  now: string | null;
  retry(agent: string): void;
}

/** Another agent may try. */
export function RetryMenu({ disabled, now, retry }: Props) {
  return (
    <Popover name="Retry with another agent" icon button={<Icon name="down" />} disabled={disabled}>
      {(close) => (
        <Agents
          now={now}
          choose={(agent) => {
            close();
            retry(agent);
          }}
        />
      )}
    </Popover>
  );
}

function Agents({ now, choose }: { now: string | null; choose(agent: string): void }) {
  const { data, error, refetch } = useAgents();
  if (data === undefined)
    return error === null ? (
      <Loading what="Looking for agents" />
    ) : (
      <Failure error={error} again={() => void refetch()} />
    );
  const sorted = data.toSorted((one, other) => Number(other.available) - Number(one.available));
  return (
    <ul className={styles.agents}>
      {sorted.map((agent) => (
        <li key={agent.name}>
          <Button kind="quiet" disabled={unavailable(agent)} onClick={() => choose(agent.name)}>
            <span className={styles.agent}>
              <span>{agent.name}</span>
              <span className={styles.note}>{note(agent, now)}</span>
            </span>
          </Button>
        </li>
      ))}
    </ul>
  );
}

function unavailable({ available, problem, install }: AgentInfo): string | null {
  if (available) return null;
  return problem ?? (install === null ? "Not installed." : `Not installed: ${install}`);
}

function note(agent: AgentInfo, now: string | null): string {
  const away = unavailable(agent);
  if (away !== null) return away;
  if (agent.login.loggedIn === "no")
    return `Not logged in${agent.login.how === null ? "" : `: ${agent.login.how}`}`;
  return agent.name === now ? "Did it last" : (agent.model ?? "");
}
