import { type KeyboardEvent, use, useEffect, useLayoutEffect, useRef } from "react";
import type { Task } from "../api/types";
import { useReadOnlyReason } from "../app/access";
import { planRun } from "../batch/runOptions";
import { copyToClipboard } from "../components/Toasts";
import { openEditor } from "../editing/editorState";
import { retryLabel } from "../model/cardActions";
import { isGroup } from "../model/groups";
import { useTask } from "../store/board";
import { toggleSelected } from "../store/selection";
import { OpenTaskContext } from "./Card";
import styles from "./CardMenu.module.css";
import { actionsOf, approveCard, cancelCard, retryTasks, tellCard, useCardDialogs } from "./cardCommands";
import { truncate } from "./cardText";

interface MenuItem {
  readonly name: string;
  readonly keys?: string;
  readonly danger?: boolean;
  run(): void;
}

/** The context menu of a card: by the right button, the menu key, or m. */
export function CardMenu() {
  const open = useCardDialogs((store) => store.menu);
  useEffect(() => close, []);
  const task = useTask(open?.id ?? "");
  if (open === null || task === undefined) return null;
  return <Menu task={task} x={open.x} y={open.y} />;
}

function Menu({ task, x, y }: { task: Task; x: number; y: number }) {
  const menu = useRef<HTMLDivElement>(null);
  const items = useMenuItems(task);
  useLayoutEffect(() => {
    const element = menu.current;
    if (element === null) return;
    const before = document.activeElement;
    const { width, height } = element.getBoundingClientRect();
    element.style.left = `${Math.max(4, Math.min(x, window.innerWidth - width - 4))}px`;
    element.style.top = `${Math.max(4, Math.min(y, window.innerHeight - height - 4))}px`;
    element.querySelector("button")?.focus();
    return () => {
      const lost = document.activeElement === null || document.activeElement === document.body;
      if ((lost || element.contains(document.activeElement)) && before instanceof HTMLElement)
        before.focus({ preventScroll: true });
    };
  }, [x, y]);
  useEffect(() => {
    const closeOutside = ({ target }: Event) => {
      if (target instanceof Node && !menu.current?.contains(target)) close();
    };
    document.addEventListener("pointerdown", closeOutside);
    window.addEventListener("blur", close);
    return () => {
      document.removeEventListener("pointerdown", closeOutside);
      window.removeEventListener("blur", close);
    };
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    event.nativeEvent.stopImmediatePropagation(); // or the board would take letters as its shortcuts
    const step = STEPS[event.key];
    if (event.key === "Escape" || event.key === "Tab") {
      event.preventDefault();
      close();
    } else if (step !== undefined) {
      event.preventDefault();
      const buttons = [...(menu.current?.querySelectorAll("button") ?? [])];
      const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
      buttons.at(step === "first" ? 0 : step === "last" ? -1 : (at + step) % buttons.length)?.focus();
    }
  };
  return (
    <div
      ref={menu}
      className={styles.menu}
      role="menu"
      aria-label={`Actions on ${truncate(task.id)}`}
      tabIndex={-1}
      onKeyDown={onKeyDown}
      onContextMenu={(event) => event.preventDefault()}
    >
      {items.map(({ name, keys, danger, run }) => (
        <button
          key={name}
          type="button"
          role="menuitem"
          className={styles.item}
          data-danger={danger || undefined}
          tabIndex={-1}
          onClick={() => {
            close();
            run();
          }}
        >
          {name}
          {keys !== undefined && (
            <span className={styles.keys} aria-hidden="true">
              {keys}
            </span>
          )}
        </button>
      ))}
    </div>
  );
}

const STEPS: Record<string, 1 | -1 | "first" | "last"> = {
  ArrowDown: 1,
  ArrowUp: -1,
  Home: "first",
  End: "last",
};

function close(): void {
  useCardDialogs.setState({ menu: null });
}

/** Only what is possible now. */
function useMenuItems(task: Task): readonly MenuItem[] {
  const openTask = use(OpenTaskContext);
  const readOnly = useReadOnlyReason() !== null;
  const { run, retry, approve, tell, log, diff, cancel } = actionsOf(task);
  const items: (MenuItem | false)[] = [
    { name: "Open", keys: "↵", run: () => openTask(task) },
    log && { name: "Open log", keys: "⇧L", run: () => openTask(task, "log") },
    diff && { name: "Open diff", run: () => openTask(task, "diff") },
    !readOnly && run && { name: "Run…", run: () => planRun([task.id]) },
    !readOnly && approve && { name: "Approve", keys: "a", run: () => approveCard(task) },
    !readOnly &&
      retry.length > 0 && {
        name: truncate(retryLabel(task, retry)),
        keys: "⇧R",
        run: () => void retryTasks(retry),
      },
    !readOnly &&
      tell !== null && {
        name: tell === "answer" ? "Answer…" : "Tell the agent…",
        keys: "t",
        run: () => tellCard(task),
      },
    !readOnly && task.editable && { name: "Edit", keys: "e", run: () => openEditor(task.id) },
    !isGroup(task) && { name: "Select", keys: "x", run: () => toggleSelected(task.id) },
    { name: "Copy id", run: () => void copyToClipboard(task.id, "the id") },
    !readOnly && cancel && { name: "Cancel", danger: true, run: () => cancelCard(task) },
  ];
  return items.filter((item) => item !== false);
}
