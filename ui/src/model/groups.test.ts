import { describe, expect, it } from "vitest";
import { groupProgress, members } from "./groups";
import { run, task } from "./samples";

const tasks = new Map(
  [
    task("house", { parts: ["walls", "roof", "gone"] }),
    task("roof", { parts: ["tiles", "house"] }),
    task("walls", { status: "completed" }),
    task("tiles", { batch: run("tiles", { status: "done", review: true }) }),
  ].map((each) => [each.id, each]),
);

describe("a group", () => {
  it("comes down to tasks that are no groups, even where groups hold each other", () => {
    expect(members(tasks, "house")).toEqual(["walls", "tiles"]);
  });

  it("tells how many of them are done", () => {
    expect(groupProgress(tasks, "house")).toBe("2/2");
  });
});
