/* What to do next, as the server says it for a terminal: here buttons stand for its commands. Pure. */

export interface NextAction {
  /** `retry` and `open` are about a task, or `retry` about all that failed. */
  readonly kind: "resume" | "unpause" | "ship" | "budget" | "retry" | "open";
  readonly batchId: string;
  readonly taskId: string | null;
}

export interface NextStep {
  readonly text: string;
  readonly actions: readonly NextAction[];
}

const COMMAND = /^(?:then |Nothing is missing: )?plait (\S+) (\S+)(?: (\S+))?/;
const KINDS: Readonly<Record<string, NextAction["kind"]>> = {
  resume: "resume",
  unpause: "unpause",
  pr: "ship",
  run: "budget", // as `run --resume --budget AMOUNT`
  retry: "retry",
  explain: "open",
};

/** `Retrying at 10:00; plait unpause 7f3a continues the batch.` is `Retrying at 10:00.` and a button. `run`: the task. */
export function parseNextStep(nextStep: string, run: { batchId: string; taskId: string }): NextStep {
  const actions: NextAction[] = [];
  const sentences = nextStep.split(/(?<=\.) /).map((sentence) => {
    const kept = sentence
      .replace(/\.$/, "")
      .split("; ")
      .filter((clause) => {
        const [command, name = "", named = "", target = null] = COMMAND.exec(clause) ?? [];
        const kind = KINDS[name];
        const batchId = kind === "budget" ? run.batchId : named;
        // The task's own actions are above.
        if (kind !== undefined && target !== run.taskId)
          actions.push(makeAction(kind, batchId, clause, target));
        return command === undefined && !clause.startsWith("Nothing is missing");
      });
    return kept.length === 0 ? "" : `${kept.join("; ")}.`;
  });
  return { text: sentences.filter(Boolean).join(" "), actions };
}

function makeAction(
  kind: NextAction["kind"],
  batchId: string,
  clause: string,
  target: string | null,
): NextAction {
  const named = kind === "open" || (kind === "retry" && !/^plait retry \S+ retries what failed/.test(clause));
  return { kind, batchId, taskId: named ? target : null };
}
