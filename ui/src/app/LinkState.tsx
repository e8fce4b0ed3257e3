import { type ReactNode, useEffect, useState } from "react";
import { formatTime } from "../model/format";
import { Button } from "../parts/Button";
import { useNow } from "../parts/now";
import { useBoard } from "../store/board";
import styles from "./LinkState.module.css";
import { refreshAccess, useAccess } from "./me";
import { useEngineProblem } from "./trouble";

const RECONNECT_NOTICE_MS = 1000; // ms: what is back at once was never gone

/** Whether what is shown is true now, and what this login may do. It lies over the page, so that nothing moves. */
export function ConnectionStatus() {
  const link = useBoard((store) => store.connection);
  useEffect(() => {
    if (link === "live") void refreshAccess();
  }, [link]);
  useEffect(() => {
    const onFocus = () => void refreshAccess();
    window.addEventListener("focus", onFocus);
    return () => window.removeEventListener("focus", onFocus);
  }, []);
  return (
    <div className={styles.place} role="status" data-link={link}>
      <StatusMessage />
    </div>
  );
}

function StatusMessage(): ReactNode {
  const link = useBoard((store) => store.connection);
  const loaded = useBoard((store) => store.loaded);
  const outdated = useAccess(({ opened, served }) => opened !== served);
  const readOnly = useAccess(({ access }) => access === "look");
  const problem = useEngineProblem();
  if (link === "lost") return <LoggedOut />;
  if (link === "reconnecting" && loaded) return <Reconnecting />;
  if (problem !== null) return <p className={styles.words}>The engine can't go on: {problem}</p>;
  if (outdated) return <NewVersion />;
  if (readOnly) return <p className={styles.quiet}>You may look</p>;
  return null;
}

function LoggedOut() {
  return (
    <p className={styles.words}>
      You are logged out. Run <code>plait token --link</code> and open what it prints; this page goes on then.
    </p>
  );
}

function Reconnecting() {
  const [since] = useState(() => Date.now());
  const now = useNow();
  if (now - since < RECONNECT_NOTICE_MS) return null;
  return (
    <p className={styles.words}>
      <span className={styles.pulse} aria-hidden="true" />
      Reconnecting since {formatTime(new Date(since).toISOString(), now)}. Batches go on, and nothing is lost.
    </p>
  );
}

function NewVersion() {
  return (
    <p className={styles.words}>
      A newer page is there.
      <Button onClick={() => window.location.reload()}>Reload</Button>
    </p>
  );
}
