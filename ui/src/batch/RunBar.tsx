import { lazy, Suspense, useMemo, useState } from "react";
import { useShallow } from "zustand/react/shallow";
import type { Mode, Task } from "../api/types";
import { Boundary } from "../app/Boundary";
import { useMayNot } from "../app/me";
import { useCommands } from "../commands/commands";
import { count } from "../model/format";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { Kbd } from "../parts/Kbd";
import { Popover } from "../parts/Popover";
import { useBoard } from "../store/board";
import { clear, toggle, useSelection } from "../store/selection";
import { AgentChoice } from "./AgentChoice";
import { ManyActions } from "./ManyActions";
import type { Outcome } from "./many";
import { Outcomes } from "./Outcomes";
import { useOrder } from "./order";
import styles from "./RunBar.module.css";
import { NeedsChoice, RunSettings } from "./RunSettings";
import { type Hindrance, hindrance } from "./runnable";

const PlanDialog = lazy(() => import("./PlanDialog"));

/** What can be done with the tasks that are selected. */
export function RunBar() {
  const tasks = useChosen();
  const batches = useBoard((store) => store.board.batches);
  const mayNot = useMayNot();
  const [planning, setPlanning] = useState<readonly string[] | null>(null);
  const [outcomes, setOutcomes] = useState<{ title: string; of: readonly Outcome[] } | null>(null);
  const hindered = useMemo(() => hindrance(tasks, batches), [tasks, batches]);
  const why = tasks.length === 0 ? "Select tasks first." : (mayNot ?? hindered?.why ?? null);
  const plan = (mode: Mode) => {
    useOrder.setState({ mode });
    setPlanning(tasks.map(({ id }) => id));
  };
  useRunCommands(why, plan);
  return (
    <>
      {outcomes !== null && <Outcomes {...outcomes} onClose={() => setOutcomes(null)} />}
      {tasks.length > 0 && (
        <section className={styles.bar} aria-label="Selection">
          <p className={styles.count} role="status">
            {count(tasks.length, "task")} selected
          </p>
          <Execute mode="parallel" why={why} plan={plan} />
          <Execute mode="queue" why={why} plan={plan} />
          <span className={styles.choices}>
            <Agents />
            <Popover name="Settings of this run" button="Settings" side="up" kind="quiet">
              {() => (
                <>
                  <RunSettings />
                  <NeedsChoice />
                </>
              )}
            </Popover>
            <ManyActions tasks={tasks} onAsked={(title, of) => setOutcomes({ title, of })} />
          </span>
          <Why mayNot={mayNot} hindered={hindered} />
          <Button kind="quiet" icon label="Clear the selection" onClick={clearHere}>
            <Icon name="close" />
          </Button>
        </section>
      )}
      {planning !== null && (
        <Boundary>
          <Suspense fallback={null}>
            <PlanDialog taskIds={planning} onClose={() => setPlanning(null)} />
          </Suspense>
        </Boundary>
      )}
    </>
  );
}

/** The bar goes, and the focus with it: the view has it then. */
function clearHere(): void {
  clear();
  document.getElementById("main")?.focus({ preventScroll: true });
}

/** In the order of the board; what was selected and is gone is not there. */
function useChosen(): readonly Task[] {
  const chosen = useSelection((store) => store.chosen);
  return useBoard(
    useShallow(({ board }) =>
      chosen.size === 0 ? [] : [...board.tasks.values()].filter(({ id }) => chosen.has(id)),
    ),
  );
}

const MODES = {
  parallel: { name: "Execute parallel", key: "r", icon: "play", about: "Many at a time" },
  queue: { name: "Execute queue", key: "q", icon: "timeline", about: "One at a time, each after approval" },
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

function Execute({ mode, why, plan }: { mode: Mode; why: string | null; plan(mode: Mode): void }) {
  const { name, key, icon, about } = MODES[mode];
  return (
    <Button
      kind={mode === "parallel" ? "primary" : "plain"}
      className={styles.execute ?? ""}
      disabled={why}
      title={about}
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

function Agents() {
  const { agents, contest } = useOrder(useShallow(({ agents, contest }) => ({ agents, contest })));
  const said =
    agents.length === 0 ? "Agent" : agents.length === 1 ? agents[0] : count(agents.length, "agent");
  return (
    <Popover name="Agents of this run" button={contest ? `${said}, contest` : said} side="up" kind="quiet">
      {() => <AgentChoice />}
    </Popover>
  );
}

function Why({ mayNot, hindered }: { mayNot: string | null; hindered: Hindrance | null }) {
  const without = hindered?.without ?? [];
  const chosen = useSelection((store) => store.chosen.size);
  const helps = mayNot === null && without.length > 0 && without.length < chosen;
  return (
    <p className={styles.why} title={mayNot ?? hindered?.why}>
      <span>{mayNot ?? hindered?.why}</span>
      {helps && (
        <Button onClick={() => without.forEach(toggle)}>Leave {count(without.length, "task")} out</Button>
      )}
    </p>
  );
}
