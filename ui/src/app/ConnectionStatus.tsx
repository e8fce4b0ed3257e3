import { type ReactNode, useEffect, useState } from "react";
import { useEngine } from "../api/queries";
import type { EngineStatus } from "../api/types";
import { isOpen } from "../batch/batchStatus";
import { Button } from "../components/Button";
import { useNow } from "../components/hooks";
import { formatTime } from "../model/format";
import { useBoard } from "../store/board";
import { refreshAccess, useAccess } from "./access";
import styles from "./ConnectionStatus.module.css";

const RECONNECT_NOTICE_MS = 1000; // ms: a short interruption isn't shown

/** The state of the connection and the login. An overlay, so that nothing moves. */
export function ConnectionStatus() {
  const connection = useBoard((store) => store.connection);
  useEffect(() => {
    if (connection === "live") void refreshAccess();
  }, [connection]);
  useEffect(() => {
    const onFocus = () => void refreshAccess();
    window.addEventListener("focus", onFocus);
    return () => window.removeEventListener("focus", onFocus);
  }, []);
  return (
    <div className={styles.container} role="status" data-connection={connection}>
      <StatusMessage />
    </div>
  );
}

function StatusMessage(): ReactNode {
  const connection = useBoard((store) => store.connection);
  const loaded = useBoard((store) => store.loaded);
  const outdated = useAccess(({ opened, served }) => opened !== served);
  const readOnly = useAccess(({ access }) => access === "look");
  const problem = useEngineProblem();
  if (connection === "lost") return <LoggedOut />;
  if (connection === "reconnecting" && loaded) return <Reconnecting />;
  if (problem !== null) return <p className={styles.message}>Engine problem: {problem}</p>;
  if (outdated) return <NewVersion />;
  if (readOnly) return <p className={styles.quiet}>Read-only</p>;
  return null;
}

function LoggedOut() {
  return (
    <p className={styles.message}>
      You are logged out. Run <code>plait token --link</code> and open the link it prints.
    </p>
  );
}

function Reconnecting() {
  const [since] = useState(() => Date.now());
  const now = useNow();
  if (now - since < RECONNECT_NOTICE_MS) return null;
  return (
    <p className={styles.message}>
      <span className={styles.pulse} aria-hidden="true" />
      Reconnecting since {formatTime(new Date(since).toISOString(), now)}. Batches keep running, and nothing
      is lost.
    </p>
  );
}

function NewVersion() {
  return (
    <p className={styles.message}>
      A newer version of this page is available.
      <Button onClick={() => window.location.reload()}>Reload</Button>
    </p>
  );
}

const findProblem = (engine: EngineStatus | null) => engine?.trouble ?? null;

/** The engine's problem while batches are open; `null` if there is none. */
function useEngineProblem(): string | null {
  const busy = useBoard(
    ({ board, connection }) => connection === "live" && [...board.batches.values()].some(isOpen),
  );
  const { data } = useEngine(busy, findProblem);
  return busy ? (data ?? null) : null;
}
