import { type CSSProperties, type ReactNode, useEffect, useId, useRef } from "react";
import type { Task } from "../api/types";
import { type OpenTask, openTaskIn, useOpenTask } from "../app/address";
import { classes } from "../parts/classes";
import { TaskBadge } from "../parts/Status";
import { giveBack, takeFocus } from "./focus";
import { Resizer } from "./Resizer";
import { Steering } from "./Steering";
import type { Known } from "./subject";
import { Tabs } from "./Tabs";
import styles from "./TaskPanel.module.css";
import { useCovers, usePanel } from "./width";

interface Props {
  open: OpenTask;
  task: Task | undefined;
  title: string;
  known: Known | undefined;
  actions: ReactNode;
  /** What stands under the tabs. */
  children: ReactNode;
  /** There is nothing that could have tabs. */
  bare: boolean;
}

/** The frame: it takes the focus when it comes, and gives it back when it goes. */
export function Panel({ open, task, title, known, actions, children, bare }: Props) {
  const { width, wide } = usePanel();
  const [, setOpen] = useOpenTask();
  const panel = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const name = useId();
  const id = useRef(task?.id);
  id.current = task?.id;
  const covers = useCovers();
  useEffect(() => {
    takeFocus(panel.current, heading.current);
    usePanel.setState({ there: true }); // not before: a page that can't be reached has lost the focus to give back
    return () => {
      usePanel.setState({ there: false });
      if (openTaskIn(new URLSearchParams(window.location.search)) === null) giveBack(id.current);
    };
  }, []);
  useEffect(() => {
    if (covers && !panel.current?.contains(document.activeElement)) takeFocus(panel.current, heading.current);
  }, [covers]);
  return (
    <aside
      ref={panel}
      className={classes(styles.panel, wide && styles.wide)}
      style={{ "--panel": `${width}px` } as CSSProperties}
      aria-labelledby={name}
    >
      <Resizer />
      <header className={styles.header}>
        <div className={styles.line}>
          <bdi className={styles.id}>{open.task}</bdi>
          {known && <TaskBadge status={known.status} />}
          <Steering open={open} task={task} />
        </div>
        <h2 ref={heading} id={name} className={styles.title} tabIndex={-1} dir="auto">
          {title}
        </h2>
      </header>
      {actions}
      {bare ? (
        <div className={styles.body}>{children}</div>
      ) : (
        <Tabs tab={open.tab} choose={(tab) => setOpen({ ...open, tab })}>
          {children}
        </Tabs>
      )}
    </aside>
  );
}
