import { useAgents } from "../api/agents";
import type { AgentInfo } from "../api/types";
import { Button } from "../parts/Button";
import { ErrorState, LoadingState } from "../parts/Empty";
import { Icon } from "../parts/Icon";
import { Popover } from "../parts/Popover";
import styles from "./Actions.module.css";

interface Props {
  disabled: string | null;
  /** Who did it last. */
  lastAgent: string | null;
  retry(agent: string): void;
}

/** Another agent may try. */
export function RetryMenu({ disabled, lastAgent, retry }: Props) {
  return (
    <Popover name="Retry with another agent" icon button={<Icon name="down" />} disabled={disabled}>
      {(close) => (
        <AgentMenu
          lastAgent={lastAgent}
          onSelect={(agent) => {
            close();
            retry(agent);
          }}
        />
      )}
    </Popover>
  );
}

function AgentMenu({ lastAgent, onSelect }: { lastAgent: string | null; onSelect(agent: string): void }) {
  const { data, error, refetch } = useAgents();
  if (data === undefined)
    return error === null ? (
      <LoadingState what="Looking for agents" />
    ) : (
      <ErrorState error={error} onRetry={() => void refetch()} />
    );
  const sorted = data.toSorted((one, other) => Number(other.available) - Number(one.available));
  return (
    <ul className={styles.agents}>
      {sorted.map((agent) => (
        <li key={agent.name}>
          <Button kind="quiet" disabled={whyUnavailable(agent)} onClick={() => onSelect(agent.name)}>
            <span className={styles.agent}>
              <span>{agent.name}</span>
              <span className={styles.note}>{agentNote(agent, lastAgent)}</span>
            </span>
          </Button>
        </li>
      ))}
    </ul>
  );
}

function whyUnavailable({ available, problem, install }: AgentInfo): string | null {
  if (available) return null;
  return problem ?? (install === null ? "Not installed." : `Not installed: ${install}`);
}

function agentNote(agent: AgentInfo, lastAgent: string | null): string {
  const reason = whyUnavailable(agent);
  if (reason !== null) return reason;
  if (agent.login.loggedIn === "no")
    return `Not logged in${agent.login.how === null ? "" : `: ${agent.login.how}`}`;
  return agent.name === lastAgent ? "Did it last" : (agent.model ?? "");
}
