import { useEffect, useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { useShallow } from "zustand/react/shallow";
import { formatNeedsYou, isOpen, promptsByBatch } from "../batch/batchStatus";
import { ProjectSwitcher } from "../batch/ProjectSwitcher";
import { useCommandRegistry } from "../commands/commands";
import { Button } from "../components/Button";
import { Dialog } from "../components/Dialog";
import { useMediaQuery } from "../components/hooks";
import { Icon, type IconName } from "../components/Icon";
import { BatchStatusIcon } from "../components/Status";
import { shortId, spellOutBidi } from "../model/format";
import { useBoard } from "../store/board";
import { routes } from "./routes";
import styles from "./Sidebar.module.css";
import { setTheme, useIsDark } from "./theme";

const NEWEST_COUNT = 5;

/** The navigation: a sidebar, or a bar with a menu on phones. */
export function Sidebar() {
  return useMediaQuery("(max-width: 720px)") ? <MobileBar /> : <DesktopSidebar />;
}

function DesktopSidebar() {
  return (
    <div className={styles.sidebar}>
      <ProjectSwitcher />
      <NavLinks />
      <Footer />
    </div>
  );
}

function MobileBar() {
  const [open, setOpen] = useState(false);
  const [path] = useLocation();
  const [search] = useSearchParams();
  const url = `${path}?${search}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: navigating closes the menu
  useEffect(() => setOpen(false), [url]);
  return (
    <div className={styles.mobileBar}>
      <Button kind="quiet" icon label="Menu" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <Icon name="menu" />
      </Button>
      <ProjectSwitcher />
      <SearchButton icon />
      {open && (
        <Dialog title="plait" size="small" onClose={() => setOpen(false)}>
          <NavLinks />
          <Footer />
        </Dialog>
      )}
    </div>
  );
}

function NavLinks() {
  const { open, needingInput } = useBoard(
    useShallow(({ board }) => ({
      open: [...board.batches.values()].filter(isOpen).length,
      needingInput: [...promptsByBatch(board.tasks).values()].filter(({ count }) => count > 0).length,
    })),
  );
  return (
    <nav className={styles.links} aria-label="Views">
      <NavLink href={routes.board()} icon="board" name="Board" />
      <NavLink href={routes.batches()} icon="branch" name="Batches">
        {needingInput > 0 && <span className={styles.attention}>{formatNeedsYou(needingInput)}</span>}
        {open > 0 && (
          <span className={styles.number} title={`${open} open`}>
            {open}
            <span className={needingInput > 0 ? "visually-hidden" : undefined}> open</span>
          </span>
        )}
      </NavLink>
      <NewestBatches />
      <NavLink href={routes.settings()} icon="settings" name="Settings" />
    </nav>
  );
}

interface NavLinkProps {
  href: string;
  icon: IconName;
  name: string;
  children?: React.ReactNode;
}

function NavLink({ href, icon, name, children }: NavLinkProps) {
  const [here] = useLocation();
  const current = href.split("?")[0] === here;
  return (
    <Link href={href} className={styles.link} aria-current={current ? "page" : undefined}>
      <Icon name={icon} />
      {name}
      {children}
    </Link>
  );
}

function NewestBatches() {
  const batches = useBoard(useShallow(({ board }) => [...board.batches.values()].slice(0, NEWEST_COUNT)));
  const [here] = useLocation();
  if (batches.length === 0) return null;
  return (
    <ul className={styles.newest} aria-label="Newest batches">
      {batches.map(({ id, name, status, progress }) => (
        <li key={id}>
          <Link
            href={routes.review(id)}
            className={styles.link}
            title={`${spellOutBidi(name)} (batch ${shortId(id)})`}
            aria-current={here.startsWith(`/batches/${encodeURIComponent(id)}`) ? "page" : undefined}
          >
            <BatchStatusIcon status={status} />
            <bdi className={styles.batch}>{spellOutBidi(name)}</bdi>
            <span className={styles.number}>
              {progress.completed}/{progress.total}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Footer() {
  const next = useIsDark() ? "light" : "dark";
  return (
    <div className={styles.footer}>
      <SearchButton />
      <CommandButton command="help" label="Keyboard shortcuts" icon="help" />
      <Button kind="quiet" icon label={`Use the ${next} theme`} onClick={() => setTheme(next)}>
        <Icon name={next === "dark" ? "moon" : "sun"} />
      </Button>
    </div>
  );
}

function SearchButton({ icon = false }: { icon?: boolean }) {
  const command = useCommandRegistry((store) => store.commands.get("palette"));
  if (command === undefined) return null;
  return (
    <Button
      kind="quiet"
      icon={icon}
      className={styles.search ?? ""}
      {...(icon ? { label: "Search and commands" } : {})}
      onClick={() => command.run()}
    >
      <Icon name="search" />
      {!icon && "Search"}
    </Button>
  );
}

/** A button for a registered command. */
function CommandButton({ command, label, icon }: { command: string; label: string; icon: IconName }) {
  const registered = useCommandRegistry((store) => store.commands.get(command));
  if (registered === undefined) return null;
  return (
    <Button kind="quiet" icon label={label} onClick={() => registered.run()}>
      <Icon name={icon} />
    </Button>
  );
}
