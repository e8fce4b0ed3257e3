import { useMemo } from "react";
import type { Task } from "../api/types";
import { count } from "../model/format";
import { groupProgress, members } from "../model/groups";
import { useBoard } from "../store/board";
import { chooseAll, useSelection } from "../store/selection";
import { CardFrame, CardName } from "./Card";
import styles from "./Card.module.css";
import { clipped } from "./card";
import { Mixed } from "./Mixed";
import { useShown } from "./shown";

/** A group is not run itself: whoever selects it selects what it is made of. */
export function GroupCard({ task }: { task: Task }) {
  const here = useShown((store) => store.cursor === task.id);
  const progress = useBoard(({ board }) => groupProgress(board.tasks, task.id));
  const said = useBoard(({ board }) => members(board.tasks, task.id).join("\n"));
  const ids = useMemo(() => said.split("\n").filter(Boolean), [said]);
  const chosen = useSelection((store) => ids.filter((id) => store.chosen.has(id)).length);
  return (
    <CardFrame task={task} data-group="" data-chosen={(ids.length > 0 && chosen === ids.length) || undefined}>
      <CardName task={task} here={here} />
      <Mixed
        className={styles.check}
        label={`Select the parts of ${clipped(task.id)}`}
        chosen={chosen}
        of={ids.length}
        tabIndex={here ? 0 : -1}
        onToggle={() => chooseAll(ids)}
      />
      <p className={styles.row}>
        <span className={styles.fixed}>group of {count(task.parts.length, "task")}</span>
        <span className={styles.said}>{progress} done</span>
      </p>
    </CardFrame>
  );
}
