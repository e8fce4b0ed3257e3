import { type CSSProperties, type ReactNode, useEffect, useId, useRef } from "react";
import type { Task } from "../api/types";
import { type OpenTask, parseOpenTask, useOpenTask } from "../app/address";
import { classNames } from "../parts/classes";
import { TaskStatusBadge } from "../parts/Status";
import { focusPanel, restoreFocus } from "./focus";
import { Resizer } from "./Resizer";
import { PanelToolbar } from "./Steering";
import type { RunInfo } from "./subject";
import { Tabs } from "./Tabs";
import styles from "./TaskPanel.module.css";
import { useFullScreenPanel, usePanel } from "./width";

interface Props {
  open: OpenTask;
  task: Task | undefined;
  title: string;
  known: RunInfo | undefined;
  actions: ReactNode;
  /** What stands under the tabs. */
  children: ReactNode;
  /** There is nothing that could have tabs. */
  withoutTabs: boolean;
}

/** The frame: it takes the focus when it comes, and gives it back when it goes. */
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
    usePanel.setState({ mounted: true }); // not before: a page that can't be reached has lost the focus to give back
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
        <div className={styles.line}>
          <bdi className={styles.id}>{open.task}</bdi>
          {known && <TaskStatusBadge status={known.status} />}
          <PanelToolbar open={open} task={task} />
        </div>
        <h2 ref={heading} id={name} className={styles.title} tabIndex={-1} dir="auto">
          {title}
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
