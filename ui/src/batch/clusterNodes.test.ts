import { describe, expect, it } from "vitest";
import type { ClusterNode } from "../api/types";
import { countSlots, describeMemory, describeNode, orderNodes } from "./clusterNodes";

const GIB = 2 ** 30;
const node: ClusterNode = {
  name: "one",
  address: "10.0.0.1",
  alive: true,
  slots: 4,
  used: 3,
  memory: 16 * GIB,
  freeMemory: 3.25 * GIB,
  problem: null,
};

describe("nodes of a cluster", () => {
  it("counts slots of the nodes that can be used", () => {
    const full = { ...node, used: 1, problem: "its disk is full" };
    expect(countSlots([node, { ...node, alive: false }, { ...node, slots: 2, used: 0 }, full])).toEqual({
      alive: 3,
      used: 4,
      slots: 7,
    });
  });

  it("lists nodes with a problem first", () => {
    const broken = { ...node, name: "two", problem: "its disk is full" };
    expect(orderNodes([node, broken, { ...node, name: "a", alive: false }])).toEqual([
      { ...node, name: "a", alive: false },
      broken,
      node,
    ]);
  });

  it("says why a node takes no attempt", () => {
    expect(describeNode(node)).toBe("ready");
    expect(describeNode({ ...node, used: 4 })).toBe("all slots used");
    expect(describeNode({ ...node, alive: false })).toBe("lost");
    expect(describeNode({ ...node, problem: "its disk is full" })).toBe("its disk is full");
  });

  it("shows memory if it is known", () => {
    expect(describeMemory(node)).toBe("3.3 of 16 GB memory free");
    expect(describeMemory({ ...node, memory: null })).toBe("");
  });
});
