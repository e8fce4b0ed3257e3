import { describe, expect, it } from "vitest";
import { buildBatchBody, DEFAULT_OPTIONS, formatTimeout, newIdempotencyKey, withSetting } from "./runOptions";

describe("run options", () => {
  it("contain only differences from the settings", () => {
    const options = withSetting(DEFAULT_OPTIONS, "retries", "0", "2");
    expect(buildBatchBody(options, ["01"]).settings).toEqual({ retries: 0 });
    expect(buildBatchBody(withSetting(options, "retries", "2", "2"), ["01"]).settings).toEqual({});
  });

  it("send invalid numbers and commands as typed", () => {
    const options = withSetting(
      withSetting(DEFAULT_OPTIONS, "maxBatchSize", "auto", "4"),
      "verify",
      "123",
      "",
    );
    expect(buildBatchBody(options, ["01"]).settings).toEqual({ maxBatchSize: "auto", verify: "123" });
  });

  it("remove a command by an empty text", () => {
    expect(buildBatchBody(withSetting(DEFAULT_OPTIONS, "gate", "", "make test"), ["01"]).settings).toEqual({
      gate: "",
    });
  });

  it("name agents once: for the tasks or for a contest", () => {
    const agents = ["claude", "codex"];
    expect(buildBatchBody({ ...DEFAULT_OPTIONS, agents }, ["01"])).toMatchObject({
      settings: { agent: agents },
    });
    const contest = buildBatchBody({ ...DEFAULT_OPTIONS, agents, contest: true, times: 2 }, ["01"]);
    expect(contest).toMatchObject({ contest: { agents, times: 2 }, settings: {} });
  });

  it("include or ignore dependencies, never both", () => {
    expect(buildBatchBody({ ...DEFAULT_OPTIONS, needs: "with" }, [])).toMatchObject({
      withNeeds: true,
      ignoreNeeds: false,
    });
    expect(buildBatchBody({ ...DEFAULT_OPTIONS, needs: "without" }, [])).toMatchObject({
      withNeeds: false,
      ignoreNeeds: true,
    });
  });

  it("skip what is completed unless asked to run it again", () => {
    expect(buildBatchBody(DEFAULT_OPTIONS, ["01"]).again).toBe(false);
    expect(buildBatchBody({ ...DEFAULT_OPTIONS, again: true }, ["01"]).again).toBe(true);
  });

  it("have a unique idempotency key", () => {
    expect(newIdempotencyKey()).toMatch(/^[0-9a-f]{32}$/);
    expect(newIdempotencyKey()).not.toBe(newIdempotencyKey());
  });

  it("write durations as people do", () => {
    expect([3600, 5400, 90, 0.5].map(formatTimeout)).toEqual(["1h", "90m", "90s", "0.5s"]);
  });
});
