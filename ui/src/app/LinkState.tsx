import { type ReactNode, useEffect, useState } from "react";
import { clock } from "../model/format";
import { Button } from "../parts/Button";
import { useNow } from "../parts/now";
import { useBoard } from "../store/board";
import styles from "./LinkState.module.css";
import { askMe, useMe } from "./me";
import { useTrouble } from "./trouble";

const PATIENCE = 1000; // ms: what is back at once was never gone

/** Whether what is shown is true now, and what this login may do. It lies over the page, so that nothing moves. */
export function LinkState() {
  const link = useBoard((store) => store.link);
  useEffect(() => {
    if (link === "live") void askMe();
  }, [link]);
  useEffect(() => {
    const seen = () => void askMe();
    window.addEventListener("focus", seen);
    return () => window.removeEventListener("focus", seen);
  }, []);
  return (
    <div className={styles.place} role="status" data-link={link}>
      <Said />
    </div>
  );
}

function Said(): ReactNode {
  const link = useBoard((store) => store.link);
  const loaded = useBoard((store) => store.loaded);
  const newer = useMe(({ opened, served }) => opened !== served);
  const looks = useMe(({ access }) => access === "look");
  const trouble = useTrouble();
  if (link === "lost") return <Lost />;
  if (link === "reconnecting" && loaded) return <Reconnecting />;
  if (trouble !== null) return <p className={styles.words}>The engine can't go on: {trouble}</p>;
  if (newer) return <Newer />;
  if (looks) return <p className={styles.quiet}>You may look</p>;
  return null;
}

function Lost() {
  return (
    <p className={styles.words}>
      You are logged out. Run <code>plait token --link</code> and open what it prints; this page goes on then.
    </p>
  );
}

function Reconnecting() {
  const [since] = useState(() => Date.now());
  const now = useNow();
  if (now - since < PATIENCE) return null;
  return (
    <p className={styles.words}>
      <span className={styles.pulse} aria-hidden="true" />
      Reconnecting since {clock(new Date(since).toISOString(), now)}. Batches go on, and nothing is lost.
    </p>
  );
}

function Newer() {
  return (
    <p className={styles.words}>
      A newer page is there.
      <Button onClick={() => window.location.reload()}>Reload</Button>
    </p>
  );
}
