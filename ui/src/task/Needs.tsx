import type { Explanation, Task } from "../api/types";
import { useOpenTask } from "../app/address";
import { COLUMN_NAMES, columnOf } from "../model/columns";
import { TaskStatusBadge } from "../parts/Status";
import { useBoard } from "../store/board";
import styles from "./About.module.css";
import { Section } from "./Facts";

interface Props {
  task: Task | undefined;
  explanation: Explanation | undefined;
}

/** What must be done before: as its batch tells it, else as its source does. */
export function NeedsSection({ task, explanation }: Props) {
  const needs = explanation?.needs ?? task?.needs ?? [];
  if (needs.length === 0) return null;
  return (
    <Section title="Needs">
      <ul className={styles.needs}>
        {needs.map((need) => (
          <NeedItem key={need.id} need={need} batchId={explanation?.batchId ?? null} />
        ))}
      </ul>
    </Section>
  );
}

type NeedInfo = Explanation["needs"][number] | Task["needs"][number];

function NeedItem({ need, batchId }: { need: NeedInfo; batchId: string | null }) {
  const [, setOpen] = useOpenTask();
  const known = useBoard(({ board }) => board.tasks.get(need.id));
  const status = "status" in need ? need.status : (known?.batch?.status ?? null);
  const inBatch = batchId !== null && "status" in need && need.status !== null;
  const open = () => setOpen(inBatch ? { task: need.id, batch: batchId } : { task: need.id });
  return (
    <li className={styles.need}>
      {inBatch || known !== undefined ? (
        <button type="button" className={styles.link} onClick={open}>
          <bdi>{need.id}</bdi>
        </button>
      ) : (
        <bdi>{need.id}</bdi>
      )}
      {status !== null ? (
        <TaskStatusBadge status={status} />
      ) : (
        known !== undefined && <span>{COLUMN_NAMES[columnOf(known)]}</span>
      )}
      {need.reason !== "" && (
        <span className={styles.soft} dir="auto">
          {need.reason}
          {need.at !== null && ` (${need.at})`}
        </span>
      )}
    </li>
  );
}
