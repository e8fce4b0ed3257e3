import { useEffect, useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { useShallow } from "zustand/react/shallow";
import { ProjectSwitch } from "../batch/ProjectSwitch";
import { askedBy, isOpen, needYou } from "../batch/watching";
import { useCommandRegistry } from "../commands/commands";
import { short } from "../model/format";
import { Button } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import { Icon, type IconName } from "../parts/Icon";
import { BatchMark } from "../parts/Status";
import { useMedia } from "../parts/useMedia";
import { useBoard } from "../store/board";
import { to } from "./address";
import styles from "./Sidebar.module.css";
import { setTheme, useTheme } from "./theme";

const NEWEST = 5;

/** Where one is, and where one can go. On a phone it is a bar, and opens. */
export function Sidebar() {
  return useMedia("(max-width: 720px)") ? <Bar /> : <Side />;
}

function Side() {
  return (
    <div className={styles.sidebar}>
      <ProjectSwitch />
      <Entries />
      <Foot />
    </div>
  );
}

function Bar() {
  const [open, setOpen] = useState(false);
  const [path] = useLocation();
  const [search] = useSearchParams();
  const where = `${path}?${search}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever has gone somewhere is done with the menu
  useEffect(() => setOpen(false), [where]);
  return (
    <div className={styles.top}>
      <Button kind="quiet" icon label="Menu" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <Icon name="menu" />
      </Button>
      <ProjectSwitch />
      <Search icon />
      {open && (
        <Dialog title="plait" size="small" onClose={() => setOpen(false)}>
          <Entries />
          <Foot />
        </Dialog>
      )}
    </div>
  );
}

function Entries() {
  const { open, asking } = useBoard(
    useShallow(({ board }) => ({
      open: [...board.batches.values()].filter(isOpen).length,
      asking: [...askedBy(board.tasks).values()].filter(({ count }) => count > 0).length,
    })),
  );
  return (
    <nav className={styles.entries} aria-label="Views">
      <Entry href={to.board()} icon="board" name="Board" />
      <Entry href={to.batches()} icon="branch" name="Batches">
        {asking > 0 && <span className={styles.asking}>{needYou(asking)}</span>}
        {open > 0 && (
          <span className={styles.number} title={`${open} open`}>
            {open}
            <span className={asking > 0 ? "unseen" : undefined}> open</span>
          </span>
        )}
      </Entry>
      <NewestBatches />
      <Entry href={to.settings()} icon="settings" name="Settings" />
    </nav>
  );
}

interface EntryProps {
  href: string;
  icon: IconName;
  name: string;
  children?: React.ReactNode;
}

function Entry({ href, icon, name, children }: EntryProps) {
  const [here] = useLocation();
  const current = href.split("?")[0] === here;
  return (
    <Link href={href} className={styles.entry} aria-current={current ? "page" : undefined}>
      <Icon name={icon} />
      {name}
      {children}
    </Link>
  );
}

function NewestBatches() {
  const heads = useBoard(useShallow(({ board }) => [...board.batches.values()].slice(0, NEWEST)));
  const [here] = useLocation();
  if (heads.length === 0) return null;
  return (
    <ul className={styles.newest} aria-label="Newest batches">
      {heads.map(({ id, status, progress }) => (
        <li key={id}>
          <Link
            href={to.review(id)}
            className={styles.entry}
            aria-current={here.startsWith(`/batches/${encodeURIComponent(id)}`) ? "page" : undefined}
          >
            <BatchMark status={status} />
            {short(id)}
            <span className={styles.number}>
              {progress.completed} of {progress.total}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Foot() {
  const { theme } = useTheme();
  const dark = useMedia("(prefers-color-scheme: dark)");
  const next = (theme === "system" ? (dark ? "dark" : "light") : theme) === "dark" ? "light" : "dark";
  return (
    <div className={styles.foot}>
      <Search />
      <Run command="help" label="Keys and help" icon="help" />
      <Button kind="quiet" icon label={`Use the ${next} theme`} onClick={() => setTheme(next)}>
        <Icon name={next === "dark" ? "moon" : "sun"} />
      </Button>
    </div>
  );
}

function Search({ icon = false }: { icon?: boolean }) {
  const there = useCommandRegistry((store) => store.commands.get("palette"));
  if (there === undefined) return null;
  return (
    <Button
      kind="quiet"
      icon={icon}
      className={styles.search ?? ""}
      {...(icon ? { label: "Search and commands" } : {})}
      onClick={() => there.run()}
    >
      <Icon name="search" />
      {!icon && "Search"}
    </Button>
  );
}

/** What somebody else has registered, as a button, while it is there. */
function Run({ command, label, icon }: { command: string; label: string; icon: IconName }) {
  const there = useCommandRegistry((store) => store.commands.get(command));
  if (there === undefined) return null;
  return (
    <Button kind="quiet" icon label={label} onClick={() => there.run()}>
      <Icon name={icon} />
    </Button>
  );
}
