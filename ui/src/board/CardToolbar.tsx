import { type MouseEvent, use } from "react";
import type { Task } from "../api/types";
import { useReadOnlyReason } from "../app/access";
import { planRun } from "../batch/runOptions";
import { Button } from "../components/Button";
import { Icon } from "../components/Icon";
import { retryLabel } from "../model/cardActions";
import { OpenTaskContext } from "./Card";
import styles from "./CardToolbar.module.css";
import { actionsOf, approveCard, openCardMenu, retryTasks, tellCard } from "./cardCommands";
import { truncate } from "./cardText";

/** What is mostly done with a card, on it; the rest is in its menu. */
export function CardToolbar({ task, tabbable }: { task: Task; tabbable: boolean }) {
  const openTask = use(OpenTaskContext);
  const readOnly = useReadOnlyReason() !== null;
  const { run, retry, approve, tell, log } = actionsOf(task);
  const tabIndex = tabbable ? 0 : -1;
  const openMenu = (event: MouseEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    openCardMenu(task.id, { x: box.left, y: box.bottom + 2 });
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys press the buttons in it, and the click bubbles up
    <span
      className={styles.toolbar}
      role="toolbar"
      tabIndex={-1}
      aria-label={`Actions on ${truncate(task.id)}`}
      onClick={(event) => event.stopPropagation()}
    >
      {run && !readOnly && (
        <Button icon kind="quiet" label="Run" tabIndex={tabIndex} onClick={() => planRun([task.id])}>
          <Icon name="play" size={14} />
        </Button>
      )}
      {approve && !readOnly && (
        <Button icon kind="quiet" label="Approve" tabIndex={tabIndex} onClick={() => approveCard(task)}>
          <Icon name="check" size={14} />
        </Button>
      )}
      {retry.length > 0 && !readOnly && (
        <Button
          icon
          kind="quiet"
          label={truncate(retryLabel(task, retry))}
          tabIndex={tabIndex}
          onClick={() => void retryTasks(retry)}
        >
          <Icon name="retry" size={14} />
        </Button>
      )}
      {tell !== null && !readOnly && (
        <Button
          icon
          kind="quiet"
          label={tell === "answer" ? "Answer" : "Tell the agent"}
          tabIndex={tabIndex}
          onClick={() => tellCard(task)}
        >
          <Icon name="review" size={14} />
        </Button>
      )}
      {log && (
        <Button icon kind="quiet" label="Open log" tabIndex={tabIndex} onClick={() => openTask(task, "log")}>
          <Icon name="menu" size={14} />
        </Button>
      )}
      <Button icon kind="quiet" label="Actions" aria-haspopup="menu" tabIndex={tabIndex} onClick={openMenu}>
        <Icon name="more" size={14} />
      </Button>
    </span>
  );
}
