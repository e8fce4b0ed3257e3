import type { Task } from "../api/types";
import { type OpenTask, useOpenTask } from "../app/address";
import { useShown } from "../board/shown";
import { useCommands } from "../commands/commands";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { beside } from "./subject";
import styles from "./TaskPanel.module.css";
import { toggleWide, usePanel } from "./width";

/** To the other tasks, wider, and away. */
export function Steering({ open, task }: { open: OpenTask; task: Task | undefined }) {
  const [, setOpen] = useOpenTask();
  const columns = useShown((shown) => shown.columns);
  const wide = usePanel((panel) => panel.wide);
  const { before, after } = beside(columns, task?.id);
  const go = (to: string | null) => () => to !== null && setOpen({ task: to, tab: open.tab });
  const close = () => setOpen(null);
  const none = "There is no other task on the board that way.";
  useCommands([
    { id: "task-close", title: "Close the task", group: "Task", keys: ["Escape"], run: close },
    {
      id: "task-before",
      title: "Task before",
      group: "Task",
      keys: ["["],
      disabled: before ? null : none,
      run: go(before),
    },
    {
      id: "task-after",
      title: "Next task",
      group: "Task",
      keys: ["]"],
      disabled: after ? null : none,
      run: go(after),
    },
    {
      id: "task-wide",
      title: wide ? "Make the task's panel narrow" : "Make the task's panel wide",
      group: "Task",
      keys: ["w"],
      run: toggleWide,
    },
  ]);
  return (
    <div className={styles.steering}>
      <Button kind="quiet" icon label="Task before" disabled={before ? null : none} onClick={go(before)}>
        <Icon name="up" />
      </Button>
      <Button kind="quiet" icon label="Next task" disabled={after ? null : none} onClick={go(after)}>
        <Icon name="down" />
      </Button>
      <Button
        kind="quiet"
        icon
        label="Wide"
        aria-pressed={wide}
        className={styles.widen}
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
