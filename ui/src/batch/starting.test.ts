import { describe, expect, it } from "vitest";
import { ApiError, UnreachableError } from "../api/client";
import type { Plan, Problem } from "../api/types";
import { countTasks, hasMissingNeeds, problemHint, sortBySeverity, whyNotStart } from "./starting";

const NOTED: Problem = { severity: "info", message: "noted", file: null, line: null, hint: null };
const WRONG: Problem = {
  ...NOTED,
  severity: "error",
  message: "02 needs 01, which is neither finished nor selected",
  hint: "`withNeeds` pulls it in, `ignoreNeeds` goes without it.",
};

function plan(problems: Problem[], ids = ["01"]): Plan {
  return { tasks: ids.map((id) => ({ id, entrantOf: null })), problems } as Plan;
}

const PREVIEW = { plan: plan([NOTED]), error: null, stale: false };

describe("a batch can be started", () => {
  it("when its plan is there, and of this order", () => {
    expect(whyNotStart(PREVIEW)).toBeNull();
    expect(whyNotStart({ ...PREVIEW, stale: true })).toBe("The plan is being worked out.");
    expect(whyNotStart({ ...PREVIEW, plan: undefined })).toBe("The plan is being worked out.");
  });

  it("unless the plan has an error, which is the reason", () => {
    expect(whyNotStart({ ...PREVIEW, plan: plan([NOTED, WRONG]) })).toBe(`${WRONG.message}.`);
  });

  it("unless the preview was refused or could not be had", () => {
    const refused = new ApiError(422, { error: "budget must be an amount" });
    expect(whyNotStart({ ...PREVIEW, error: refused })).toBe("budget must be an amount.");
    expect(whyNotStart({ ...PREVIEW, error: new UnreachableError() })).toBe(
      "The plan could not be worked out.",
    );
  });

  it("unless nothing is left to do", () => {
    expect(whyNotStart({ ...PREVIEW, plan: plan([NOTED], []) })).toMatch(/nothing to do/);
  });
});

describe("problems", () => {
  it("come the worst first, and what the page has a button for has no hint", () => {
    expect(sortBySeverity([NOTED, WRONG])).toEqual([WRONG, NOTED]);
    expect(problemHint(WRONG)).toBeNull();
    expect(problemHint({ ...NOTED, hint: "Mend it." })).toBe("Mend it.");
    expect(hasMissingNeeds(plan([WRONG]))).toBe(true);
    expect(hasMissingNeeds(plan([NOTED]))).toBe(false);
  });

  it("tries of a contest are not counted as tasks", () => {
    const tries = plan([]).tasks.concat([{ id: "01@a", entrantOf: "01" } as Plan["tasks"][number]]);
    expect(countTasks({ ...plan([]), tasks: tries })).toBe(1);
  });
});
