import { useMemo } from "react";
import type { Task } from "../api/types";
import { pluralize } from "../model/format";
import { groupMembers, groupProgress } from "../model/groups";
import { useBoard } from "../store/board";
import { toggleAll, useSelection } from "../store/selection";
import { CardFrame, CardName } from "./Card";
import styles from "./Card.module.css";
import { truncate } from "./card";
import { MixedCheckbox } from "./Mixed";
import { useBoardLayout } from "./shown";

/** A group is not run itself: whoever selects it selects what it is made of. */
export function GroupCard({ task }: { task: Task }) {
  const atCursor = useBoardLayout((store) => store.cursor === task.id);
  const progress = useBoard(({ board }) => groupProgress(board.tasks, task.id));
  const joined = useBoard(({ board }) => groupMembers(board.tasks, task.id).join("\n"));
  const ids = useMemo(() => joined.split("\n").filter(Boolean), [joined]);
  const selected = useSelection((store) => ids.filter((id) => store.selected.has(id)).length);
  return (
    <CardFrame
      task={task}
      data-group=""
      data-chosen={(ids.length > 0 && selected === ids.length) || undefined}
    >
      <CardName task={task} atCursor={atCursor} />
      <MixedCheckbox
        className={styles.check}
        label={`Select the parts of ${truncate(task.id)}`}
        selected={selected}
        total={ids.length}
        tabIndex={atCursor ? 0 : -1}
        onToggle={() => toggleAll(ids)}
      />
      <p className={styles.row}>
        <span className={styles.fixed}>group of {pluralize(task.parts.length, "task")}</span>
        <span className={styles.said}>{progress} done</span>
      </p>
    </CardFrame>
  );
}
