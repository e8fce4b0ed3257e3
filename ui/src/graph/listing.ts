/* The graph as one flat list, wave by wave, of which only what is in sight is drawn. Pure. */

import type { Graph } from "../api/types";
import type { GraphNode } from "./elements";

export type ListEntry =
  | { readonly kind: "wave"; readonly key: string; readonly wave: number; readonly tasks: number }
  | {
      readonly kind: "task";
      readonly key: string;
      readonly node: GraphNode;
      /** Of those of its wave. */
      readonly first: boolean;
      readonly last: boolean;
    };

/** Only those in `found`, where anything is looked for; a wave without any is left out. */
export function buildList(
  { nodes, waves }: Pick<Graph, "nodes" | "waves">,
  matches: ReadonlySet<string> | null,
): ListEntry[] {
  const byId = new Map(nodes.map((node) => [node.taskId, node]));
  return waves.flatMap((wave, at): ListEntry[] => {
    const shown = wave.flatMap((id) => (matches === null || matches.has(id) ? (byId.get(id) ?? []) : []));
    if (shown.length === 0) return [];
    return [
      { kind: "wave", key: `wave ${at + 1}`, wave: at + 1, tasks: wave.length },
      ...shown.map((node, place) => ({
        kind: "task" as const,
        key: `task ${node.taskId}`,
        node,
        first: place === 0,
        last: place === shown.length - 1,
      })),
    ];
  });
}
