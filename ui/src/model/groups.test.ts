import { describe, expect, it } from "vitest";
import { groupMembers, groupProgress } from "./groups";
import { sampleRun, sampleTask } from "./testData";

const tasks = new Map(
  [
    sampleTask("house", { parts: ["walls", "roof", "gone"] }),
    sampleTask("roof", { parts: ["tiles", "house"] }),
    sampleTask("walls", { status: "completed" }),
    sampleTask("tiles", { batch: sampleRun("tiles", { status: "done", review: true }) }),
  ].map((each) => [each.id, each]),
);

describe("a group", () => {
  it("expands to its tasks, even if groups contain each other", () => {
    expect(groupMembers(tasks, "house")).toEqual(["walls", "tiles"]);
  });

  it("counts how many of them are done", () => {
    expect(groupProgress(tasks, "house")).toBe("2/2");
  });
});
