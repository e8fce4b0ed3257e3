import { useEffect, useMemo, useState } from "react";
import { useShallow } from "zustand/react/shallow";
import type { Mode, Task } from "../api/types";
import { useReadOnlyReason } from "../app/access";
import { useCommands } from "../commands/commands";
import { Button } from "../components/Button";
import { ErrorBoundary } from "../components/ErrorBoundary";
import { Icon } from "../components/Icon";
import { Kbd } from "../components/Kbd";
import { Popover } from "../components/Popover";
import { pluralize } from "../model/format";
import { useBoard } from "../store/board";
import { clearSelection, toggleSelected, useSelection } from "../store/selection";
import { BulkActions, type BulkResult, BulkResults } from "./BulkActions";
import { PlanDialog } from "./PlanDialog";
import styles from "./RunBar.module.css";
import { AgentPicker, RunSettings, SelectionOptions } from "./RunForm";
import { findRunBlocker, type RunBlocker } from "./runChecks";
import { planRun, usePlannedTasks, useRunOptions } from "./runOptions";

/** Actions on the selected tasks. */
export function RunBar() {
  const tasks = useSelectedTasks();
  const batches = useBoard((store) => store.board.batches);
  const readOnlyReason = useReadOnlyReason();
  const planned = usePlannedTasks((store) => store.ids);
  const [bulkResults, setBulkResults] = useState<{ title: string; results: readonly BulkResult[] } | null>(
    null,
  );
  const blocker = useMemo(() => findRunBlocker(tasks, batches), [tasks, batches]);
  const why = tasks.length === 0 ? "Select tasks first." : (readOnlyReason ?? blocker?.reason ?? null);
  const plan = (mode: Mode) =>
    planRun(
      tasks.map(({ id }) => id),
      mode,
    );
  useRunCommands(why, plan);
  useEffect(() => () => usePlannedTasks.setState({ ids: null }), []); // a plan isn't shown again on another visit
  return (
    <>
      {bulkResults !== null && <BulkResults {...bulkResults} onClose={() => setBulkResults(null)} />}
      {tasks.length > 0 && (
        <section className={styles.bar} aria-label="Selection">
          <p className={styles.count} role="status">
            {pluralize(tasks.length, "task")} selected
          </p>
          <RunButton mode="parallel" why={why} plan={plan} />
          <RunButton mode="queue" why={why} plan={plan} />
          <span className={styles.options}>
            <AgentsPopover />
            <Popover name="Run settings" button="Settings" side="up" kind="quiet">
              {() => (
                <div className={styles.form}>
                  <RunSettings />
                  <SelectionOptions />
                </div>
              )}
            </Popover>
            <BulkActions tasks={tasks} onDone={(title, results) => setBulkResults({ title, results })} />
          </span>
          <BlockedReason readOnlyReason={readOnlyReason} blocker={blocker} />
          <Button kind="quiet" icon label="Clear selection" onClick={clearAndRefocus}>
            <Icon name="close" />
          </Button>
        </section>
      )}
      {planned !== null && (
        <ErrorBoundary>
          <PlanDialog taskIds={planned} onClose={() => usePlannedTasks.setState({ ids: null })} />
        </ErrorBoundary>
      )}
    </>
  );
}

/** When the bar disappears with the focus in it, the view gets the focus. */
function clearAndRefocus(): void {
  clearSelection();
  document.getElementById("main")?.focus({ preventScroll: true });
}

/** The selected tasks that still exist, in the order of the board. */
function useSelectedTasks(): readonly Task[] {
  const selected = useSelection((store) => store.selected);
  return useBoard(
    useShallow(({ board }) =>
      selected.size === 0 ? [] : [...board.tasks.values()].filter(({ id }) => selected.has(id)),
    ),
  );
}

const MODES = {
  parallel: { name: "Execute parallel", key: "r", icon: "play", hint: "Many at a time" },
  queue: {
    name: "Execute queue",
    key: "q",
    icon: "timeline",
    hint: "One at a time, each after your approval",
  },
} as const;

function useRunCommands(why: string | null, plan: (mode: Mode) => void): void {
  useCommands(
    (["parallel", "queue"] as const).map((mode) => ({
      id: `run-${mode}`,
      title: MODES[mode].name,
      group: "Selection",
      keys: [MODES[mode].key],
      disabled: why,
      run: () => plan(mode),
    })),
  );
}

function RunButton({ mode, why, plan }: { mode: Mode; why: string | null; plan(mode: Mode): void }) {
  const { name, key, icon, hint } = MODES[mode];
  return (
    <Button
      kind={mode === "parallel" ? "primary" : "plain"}
      className={styles.run ?? ""}
      disabled={why}
      title={hint}
      onClick={() => plan(mode)}
    >
      <Icon name={icon} />
      {name}
      <span className={styles.key} aria-hidden="true">
        <Kbd keys={key} />
      </span>
    </Button>
  );
}

function AgentsPopover() {
  const { agents, contest } = useRunOptions(useShallow(({ agents, contest }) => ({ agents, contest })));
  const label =
    agents.length === 0 ? "Agent" : agents.length === 1 ? agents[0] : pluralize(agents.length, "agent");
  return (
    <Popover name="Run agents" button={contest ? `${label}, contest` : label} side="up" kind="quiet">
      {() => (
        <div className={styles.form}>
          <AgentPicker />
        </div>
      )}
    </Popover>
  );
}

function BlockedReason({
  readOnlyReason,
  blocker,
}: {
  readOnlyReason: string | null;
  blocker: RunBlocker | null;
}) {
  const without = blocker?.without ?? [];
  const selectedCount = useSelection((store) => store.selected.size);
  const canLeaveOut = readOnlyReason === null && without.length > 0 && without.length < selectedCount;
  return (
    <p className={styles.blocked} title={readOnlyReason ?? blocker?.reason}>
      <span>{readOnlyReason ?? blocker?.reason}</span>
      {canLeaveOut && (
        <Button onClick={() => without.forEach(toggleSelected)}>
          Leave {pluralize(without.length, "task")} out
        </Button>
      )}
    </p>
  );
}
