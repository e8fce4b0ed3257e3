import { type CSSProperties, type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from "react";
import type { Task } from "../api/types";
import { type OpenTask, parseOpenTask, type Tab, useOpenTask } from "../app/routes";
import { focusCard, useBoardLayout } from "../board/boardLayout";
import { useCommands } from "../commands/commands";
import { Button } from "../components/Button";
import { classNames } from "../components/classNames";
import { Icon } from "../components/Icon";
import { TaskStatusBadge } from "../components/Status";
import { findColumn } from "../model/cardNavigation";
import { spellOutBidi } from "../model/format";
import { MAX_WIDTH, MIN_WIDTH, setWidth, toggleWide, useFullScreenPanel, usePanel } from "./panelState";
import { adjacentTasks, type RunInfo } from "./selectedTask";
import styles from "./TaskPanel.module.css";

interface Props {
  open: OpenTask;
  task: Task | undefined;
  title: string;
  known: RunInfo | undefined;
  actions: ReactNode;
  /** The content of the selected tab. */
  children: ReactNode;
  /** Without tabs, because nothing is loaded. */
  withoutTabs: boolean;
}

/** The panel's frame: takes the focus when it opens, and restores it when it closes. */
export function PanelFrame({ open, task, title, known, actions, children, withoutTabs }: Props) {
  const { width, wide } = usePanel();
  const [, setOpen] = useOpenTask();
  const panel = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const name = useId();
  const id = useRef(task?.id);
  id.current = task?.id;
  const fullScreen = useFullScreenPanel();
  useEffect(() => {
    focusPanel(panel.current, heading.current);
    usePanel.setState({ mounted: true }); // only now: making the page inert would have lost the focus to restore
    return () => {
      usePanel.setState({ mounted: false });
      if (parseOpenTask(new URLSearchParams(window.location.search)) === null) restoreFocus(id.current);
    };
  }, []);
  useEffect(() => {
    if (fullScreen && !panel.current?.contains(document.activeElement))
      focusPanel(panel.current, heading.current);
  }, [fullScreen]);
  return (
    <aside
      ref={panel}
      className={classNames(styles.panel, wide && styles.wide)}
      style={{ "--panel": `${width}px` } as CSSProperties}
      aria-labelledby={name}
    >
      <Resizer />
      <header className={styles.header}>
        <div className={styles.topRow}>
          <bdi className={styles.id}>{open.task}</bdi>
          {known && <TaskStatusBadge status={known.status} />}
          <PanelToolbar open={open} task={task} />
        </div>
        <h2 ref={heading} id={name} className={styles.title} tabIndex={-1} dir="auto">
          {spellOutBidi(title)}
        </h2>
      </header>
      {actions}
      {withoutTabs ? (
        <div className={styles.body}>{children}</div>
      ) : (
        <Tabs tab={open.tab} onSelect={(tab) => setOpen({ ...open, tab })}>
          {children}
        </Tabs>
      )}
    </aside>
  );
}

/** Previous and next task, width, and close. */
function PanelToolbar({ open, task }: { open: OpenTask; task: Task | undefined }) {
  const [, setOpen] = useOpenTask();
  const columns = useBoardLayout((shown) => shown.columns);
  const wide = usePanel((panel) => panel.wide);
  const { previous, next } = adjacentTasks(columns, task?.id);
  const openOther = (to: string | null) => () => to !== null && setOpen({ task: to, tab: open.tab });
  const close = () => setOpen(null);
  const noOther = "No more tasks in that direction.";
  useCommands([
    { id: "task-close", title: "Close task", group: "Task", keys: ["Escape"], run: close },
    {
      id: "task-before",
      title: "Previous task",
      group: "Task",
      keys: ["["],
      disabled: previous ? null : noOther,
      run: openOther(previous),
    },
    {
      id: "task-after",
      title: "Next task",
      group: "Task",
      keys: ["]"],
      disabled: next ? null : noOther,
      run: openOther(next),
    },
    {
      id: "task-wide",
      title: wide ? "Narrow the panel" : "Widen the panel",
      group: "Task",
      keys: ["w"],
      run: toggleWide,
    },
  ]);
  return (
    <div className={styles.toolbar}>
      <Button
        kind="quiet"
        icon
        label="Previous task"
        disabled={previous ? null : noOther}
        onClick={openOther(previous)}
      >
        <Icon name="up" />
      </Button>
      <Button kind="quiet" icon label="Next task" disabled={next ? null : noOther} onClick={openOther(next)}>
        <Icon name="down" />
      </Button>
      <Button
        kind="quiet"
        icon
        label="Wide"
        aria-pressed={wide}
        className={styles.widenButton}
        onClick={toggleWide}
      >
        <Icon name="wide" />
      </Button>
      <Button kind="quiet" icon label="Close" onClick={close}>
        <Icon name="close" />
      </Button>
    </div>
  );
}

const TAB_LABELS: Record<Tab, string> = {
  conversation: "Conversation",
  log: "Log",
  diff: "Diff",
  checks: "Checks",
  about: "About",
};
const TABS = Object.keys(TAB_LABELS) as Tab[];

interface TabsProps {
  tab: Tab;
  onSelect(tab: Tab): void;
  children: ReactNode;
}

/** Tabs as in WAI-ARIA: one is in the tab order, and arrows move between them. */
function Tabs({ tab, onSelect, children }: TabsProps) {
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const current = TABS.indexOf(tab);
    const target = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: TABS.length - 1 }[
      event.key
    ];
    const next = target === undefined ? undefined : TABS[(target + TABS.length) % TABS.length];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    onSelect(next);
    list.current?.querySelector<HTMLElement>(`[data-tab=${next}]`)?.focus();
  };
  return (
    <>
      <div
        ref={list}
        role="tablist"
        aria-label="About this task"
        className={styles.tabs}
        onKeyDown={onKeyDown}
        tabIndex={-1}
      >
        {TABS.map((each) => (
          <button
            key={each}
            type="button"
            role="tab"
            id={`tab-${each}`}
            data-tab={each}
            className={styles.tab}
            aria-selected={each === tab}
            aria-controls={each === tab ? `panel-${each}` : undefined}
            tabIndex={each === tab ? 0 : -1}
            onClick={() => onSelect(each)}
          >
            {TAB_LABELS[each]}
          </button>
        ))}
      </div>
      <div
        role="tabpanel"
        id={`panel-${tab}`}
        aria-labelledby={`tab-${tab}`}
        className={styles.body}
        data-tab={tab}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and may contain nothing focusable
        tabIndex={0}
      >
        {children}
      </div>
    </>
  );
}

const RESIZE_STEP = 24; // px

/** The left edge of the panel: drag it, or use the arrow keys. */
function Resizer() {
  const width = usePanel((panel) => panel.width);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a movable separator, which <hr> isn't
    <div
      role="separator"
      className={styles.resizer}
      aria-label="Panel width"
      aria-orientation="vertical"
      aria-valuemin={MIN_WIDTH}
      aria-valuemax={MAX_WIDTH}
      aria-valuenow={width}
      tabIndex={0}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        event.preventDefault();
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId))
          setWidth(window.innerWidth - event.clientX);
      }}
      onKeyDown={(event) => {
        const delta = { ArrowLeft: RESIZE_STEP, ArrowRight: -RESIZE_STEP }[event.key];
        if (delta === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        setWidth(width + delta);
      }}
    />
  );
}

let origin: HTMLElement | null = null;

/** The panel remounts for each task, so remember what opened it first. */
function focusPanel(panel: HTMLElement | null, to: HTMLElement | null): void {
  const { activeElement } = document;
  if (
    activeElement instanceof HTMLElement &&
    activeElement !== document.body &&
    !panel?.contains(activeElement)
  )
    origin = activeElement;
  to?.focus({ preventScroll: true });
}

/** Focuses what opened the panel, or the card of the last shown task if that is another one. */
function restoreFocus(id: string | undefined): void {
  const before = origin;
  origin = null;
  const card = before?.closest<HTMLElement>("[data-card]");
  const same = card === null || card === undefined || card.dataset.card === id;
  if (before?.isConnected && same) before.focus({ preventScroll: true });
  else if (id !== undefined && isOnBoard(id)) focusCard(id);
  else document.getElementById("main")?.focus({ preventScroll: true });
}

function isOnBoard(id: string): boolean {
  return (
    document.querySelector("[data-card]") !== null &&
    findColumn(useBoardLayout.getState().columns, id) !== undefined
  );
}
