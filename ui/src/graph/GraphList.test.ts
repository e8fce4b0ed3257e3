import { describe, expect, it } from "vitest";
import type { GraphNode } from "./edges";
import { buildList } from "./GraphList";

const node = (taskId: string) => ({ taskId, title: taskId }) as GraphNode;
const graph = {
  nodes: ["a", "b", "c"].map(node),
  waves: [
    ["a", "b"],
    ["c", "gone"],
  ],
};

function listLines(found: ReadonlySet<string> | null): string[] {
  return buildList(graph, found).map((entry) =>
    entry.kind === "wave"
      ? `wave ${entry.wave} of ${entry.tasks}`
      : `${entry.node.taskId}${entry.first ? " first" : ""}${entry.last ? " last" : ""}`,
  );
}

describe("the graph as a list", () => {
  it("lists the tasks wave by wave", () => {
    expect(listLines(null)).toEqual(["wave 1 of 2", "a first", "b last", "wave 2 of 2", "c first last"]);
  });

  it("shows only matches, and no empty waves", () => {
    expect(listLines(new Set(["b"]))).toEqual(["wave 1 of 2", "b first last"]);
    expect(listLines(new Set())).toEqual([]);
  });
});
