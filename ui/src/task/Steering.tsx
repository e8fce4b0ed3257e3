import type { Task } from "../api/types";
import { type OpenTask, useOpenTask } from "../app/address";
import { useBoardLayout } from "../board/shown";
import { useCommands } from "../commands/commands";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { adjacentTasks } from "./subject";
import styles from "./TaskPanel.module.css";
import { toggleWide, usePanel } from "./width";

/** To the other tasks, wider, and away. */
export function PanelToolbar({ open, task }: { open: OpenTask; task: Task | undefined }) {
  const [, setOpen] = useOpenTask();
  const columns = useBoardLayout((shown) => shown.columns);
  const wide = usePanel((panel) => panel.wide);
  const { previous, next } = adjacentTasks(columns, task?.id);
  const openOther = (to: string | null) => () => to !== null && setOpen({ task: to, tab: open.tab });
  const close = () => setOpen(null);
  const noOther = "There is no other task on the board that way.";
  useCommands([
    { id: "task-close", title: "Close the task", group: "Task", keys: ["Escape"], run: close },
    {
      id: "task-before",
      title: "Task before",
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
      title: wide ? "Make the task's panel narrow" : "Make the task's panel wide",
      group: "Task",
      keys: ["w"],
      run: toggleWide,
    },
  ]);
  return (
    <div className={styles.steering}>
      <Button
        kind="quiet"
        icon
        label="Task before"
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
