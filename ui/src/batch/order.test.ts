import { describe, expect, it } from "vitest";
import { asLength, bodyOf, newKey, PLAIN, setting } from "./order";

describe("an order", () => {
  it("says only what differs from the settings in force", () => {
    const said = setting(PLAIN, "retries", "0", "2");
    expect(bodyOf(said, ["01"]).settings).toEqual({ retries: 0 });
    expect(bodyOf(setting(said, "retries", "2", "2"), ["01"]).settings).toEqual({});
  });

  it("leaves what is no number to the server, and commands as they are", () => {
    const said = setting(setting(PLAIN, "maxBatchSize", "auto", "4"), "verify", "123", "");
    expect(bodyOf(said, ["01"]).settings).toEqual({ maxBatchSize: "auto", verify: "123" });
  });

  it("takes a command away by an empty text", () => {
    expect(bodyOf(setting(PLAIN, "gate", "", "make test"), ["01"]).settings).toEqual({ gate: "" });
  });

  it("names its agents once: as those of the tasks, or as those of a contest", () => {
    const agents = ["claude", "codex"];
    expect(bodyOf({ ...PLAIN, agents }, ["01"])).toMatchObject({ settings: { agent: agents } });
    const contest = bodyOf({ ...PLAIN, agents, contest: true, times: 2 }, ["01"]);
    expect(contest).toMatchObject({ contest: { agents, times: 2 }, settings: {} });
  });

  it("takes needs in, or goes without them, and never both", () => {
    expect(bodyOf({ ...PLAIN, needs: "with" }, [])).toMatchObject({ withNeeds: true, ignoreNeeds: false });
    expect(bodyOf({ ...PLAIN, needs: "without" }, [])).toMatchObject({ withNeeds: false, ignoreNeeds: true });
  });

  it("has a key of its own", () => {
    expect(newKey()).toMatch(/^[0-9a-f]{32}$/);
    expect(newKey()).not.toBe(newKey());
  });

  it("has lengths of time as people write them", () => {
    expect([3600, 5400, 90, 0.5].map(asLength)).toEqual(["1h", "90m", "90s", "0.5s"]);
  });
});
