/* Texts about the nodes of a cluster. Pure. */

import type { ClusterNode } from "../api/types";

/** Of those that are in the cluster. A node with a problem has no more slots than are used. */
export function countSlots(nodes: readonly ClusterNode[]): { alive: number; used: number; slots: number } {
  const alive = nodes.filter((node) => node.alive);
  const sum = (count: (node: ClusterNode) => number) => alive.reduce((total, node) => total + count(node), 0);
  const used = sum((node) => node.used);
  return {
    alive: alive.length,
    used,
    slots: sum((node) => (node.problem === null ? node.slots : node.used)),
  };
}

/** Those with a problem first, then by name. */
export function orderNodes(nodes: readonly ClusterNode[]): ClusterNode[] {
  const rank = (node: ClusterNode) => (node.alive && node.problem === null ? 1 : 0);
  return [...nodes].sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
}

export function describeNode({ alive, problem, used, slots }: ClusterNode): string {
  if (problem !== null) return problem;
  if (!alive) return "lost";
  return used < slots ? "ready" : "all slots used";
}

/** `3.2 of 16 GB free`; empty if it isn't known. */
export function describeMemory({ memory, freeMemory }: ClusterNode): string {
  if (memory === null || freeMemory === null) return "";
  const format = (bytes: number) => (bytes / 2 ** 30).toFixed(bytes < 10 * 2 ** 30 ? 1 : 0);
  return `${format(freeMemory)} of ${format(memory)} GB memory free`;
}
