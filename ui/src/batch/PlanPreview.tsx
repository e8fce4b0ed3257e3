import type { Plan, Problem } from "../api/types";
import { Button } from "../components/Button";
import { formatCost, formatDuration, pluralize, spellOutBidi } from "../model/format";
import styles from "./PlanDialog.module.css";
import { countTasks, hasMissingNeeds, problemHint, sortBySeverity } from "./runChecks";
import { type RunOptions, useRunOptions } from "./runOptions";

type PlanTask = Plan["tasks"][number];
const MAX_LISTED = 60; // tasks of one wave that are listed by name

/** The waves of the plan, and what keeps tasks apart. */
export function PlanPreview({ plan, options }: { plan: Plan; options: RunOptions }) {
  if (plan.tasks.length === 0) return null;
  return (
    <>
      <p className={styles.summary}>{summarize(plan).join(" · ")}</p>
      {plan.permissions && <p className={styles.permissions}>{plan.permissions}</p>}
      {options.mode === "queue" && <p className={styles.muted}>{describeQueue(options)}</p>}
      <Waves plan={plan} />
      <SharedFiles plan={plan} />
      <Phases plan={plan} />
      {plan.criticalPath.length > 1 && (
        <section className={styles.section}>
          <h3>Longest path</h3>
          <p className={styles.path}>{spellOutBidi(plan.criticalPath.join(" → "))}</p>
        </section>
      )}
    </>
  );
}

function summarize(plan: Plan): string[] {
  const costText = plan.cost === null ? "" : formatCost(plan.cost);
  return [
    pluralize(countTasks(plan), "task"),
    pluralize(plan.waves.length, "wave"),
    plan.eta === null
      ? "no time estimate yet"
      : `about ${formatDuration(Math.max(1, plan.eta))} (${plan.etaBasis})`,
    costText === "" ? "" : `about ${costText}`,
    plan.sandbox === "off" ? "" : `sandbox ${plan.sandbox}`,
  ].filter(Boolean);
}

function describeQueue({ settings }: RunOptions): string {
  return settings.queueAutoApprove === true
    ? "One at a time, without asking."
    : "One at a time; each waits for your approval, unless the settings say otherwise.";
}

function Waves({ plan }: { plan: Plan }) {
  const byId = new Map(plan.tasks.map((task) => [task.id, task]));
  const longest = new Set(plan.criticalPath.length > 1 ? plan.criticalPath : []);
  return (
    <ol className={styles.waves}>
      {plan.waves.map((ids, index) => (
        <li key={ids[0]} className={styles.section}>
          <h3>
            Wave {index + 1} <span className={styles.muted}>{pluralize(ids.length, "task")}</span>
          </h3>
          <ul>
            {ids.slice(0, MAX_LISTED).map((id) => {
              const task = byId.get(id);
              return task && <TaskRow key={id} task={task} longest={longest.has(id)} />;
            })}
          </ul>
          {ids.length > MAX_LISTED && <p className={styles.muted}>and {ids.length - MAX_LISTED} more</p>}
        </li>
      ))}
    </ol>
  );
}

function TaskRow({ task, longest }: { task: PlanTask; longest: boolean }) {
  const { id, title, agent, needs } = task;
  return (
    <li className={styles.row}>
      <p className={styles.task}>
        <span className={styles.id}>{spellOutBidi(id)}</span>
        {title !== id && <span className={styles.title}>{spellOutBidi(title)}</span>}
        {longest && <span className={styles.tag}>longest path</span>}
        {agent && <span className={styles.muted}>{agent}</span>}
      </p>
      {needs.map((need) => (
        <p key={`${need.kind} ${need.id}`} className={styles.need}>
          {need.kind === "chain" ? "follows" : "needs"} {spellOutBidi(need.id)}
          {need.reason && need.reason !== `needs: ${need.id}` && `: ${spellOutBidi(need.reason)}`}
          {need.at && <code>{spellOutBidi(need.at)}</code>}
        </p>
      ))}
    </li>
  );
}

function SharedFiles({ plan: { conflicts } }: { plan: Plan }) {
  if (conflicts.length === 0) return null;
  return (
    <section className={styles.section}>
      <h3>
        Shared files <span className={styles.muted}>their tasks run one after another</span>
      </h3>
      <ul>
        {conflicts.slice(0, MAX_LISTED).map(({ file, tasks }) => (
          <li key={file} className={styles.row}>
            <code>{spellOutBidi(file)}</code>{" "}
            <span className={styles.muted}>{spellOutBidi(tasks.join(", "))}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Those of the tasks that are about to run. */
function Phases({ plan: { phases, tasks } }: { plan: Plan }) {
  const own = new Set(tasks.map(({ phase }) => phase));
  const shown = phases.filter(({ id }) => own.has(id));
  if (shown.length === 0) return null;
  const nameOf = (id: string) => phases.find((phase) => phase.id === id)?.title || id;
  return (
    <section className={styles.section}>
      <h3>Phases</h3>
      <ul>
        {shown.map(({ id, title, after, gate, settled, total }) => (
          <li key={id} className={styles.row}>
            {spellOutBidi(title || id)} <span className={styles.muted}>{`${settled} of ${total} done`}</span>
            {after.length > 0 && (
              <p className={styles.need}>
                starts when {gate === null ? "enough" : `${Math.round(gate * 100)}%`} of{" "}
                {spellOutBidi(new Intl.ListFormat("en").format(after.map(nameOf)))} is done
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

const MAX_PROBLEMS = 20;
const SEVERITY_LABELS = { error: "Error", warning: "Warning", info: "Note" } as const;

/** The problems of a plan, the worst first, each with its location and a hint. */
export function PlanProblems({ plan }: { plan: Plan }) {
  const problems = sortBySeverity(plan.problems);
  if (problems.length === 0) return null;
  return (
    <section className={styles.problems} aria-label="Problems">
      <ul>
        {problems.slice(0, MAX_PROBLEMS).map((problem) => (
          <ProblemItem key={`${problem.file}:${problem.line} ${problem.message}`} problem={problem} />
        ))}
      </ul>
      {problems.length > MAX_PROBLEMS && (
        <p className={styles.muted}>and {problems.length - MAX_PROBLEMS} more</p>
      )}
      {hasMissingNeeds(plan) && (
        <p className={styles.actions}>
          <Button onClick={() => useRunOptions.setState({ needs: "with" })}>Run needed tasks too</Button>
          <Button onClick={() => useRunOptions.setState({ needs: "without" })}>Ignore needs</Button>
        </p>
      )}
    </section>
  );
}

function ProblemItem({ problem }: { problem: Problem }) {
  const { severity, message, file, line } = problem;
  const hint = problemHint(problem);
  const location = file === null ? null : line === null ? file : `${file}:${line}`;
  return (
    <li className={styles.problem} data-severity={severity}>
      <span className={styles.severity}>{SEVERITY_LABELS[severity]}</span>
      <div>
        <p>{spellOutBidi(message)}</p>
        {hint && <p className={styles.muted}>{spellOutBidi(hint)}</p>}
        {location && <code className={styles.muted}>{spellOutBidi(location)}</code>}
      </div>
    </li>
  );
}
