/* Who stands above whom in each layer, so that few lines cross. Pure, and the same for the same input.

   A line over several layers passes each of them through a bend: a vertex that is nobody's task. */

export interface Layers {
  /** Vertices by layer, from top to bottom. Those below `tasks` are tasks, the others bends. */
  readonly order: readonly (readonly number[])[];
  readonly tasks: number;
  readonly before: readonly (readonly number[])[];
  readonly after: readonly (readonly number[])[];
  /** The bends of each edge, from left to right. */
  readonly bends: readonly (readonly number[])[];
}

const ORDER_SWEEPS = 12;
const MAX_VAIN_SWEEPS = 3; // sweeps that may be in vain
const MAX_BENDS = 6000; // beyond that many, long lines are drawn straight

/** `layer` of each task, and edges as pairs of tasks that lead to a later layer. */
export function orderLayers(layer: readonly number[], edges: readonly (readonly [number, number])[]): Layers {
  const start = insertBends(layer, edges);
  let best = start.order;
  let fewest = countCrossings(best, start.after);
  let order = best;
  let vain = 0;
  for (let sweep = 0; sweep < ORDER_SWEEPS && fewest > 0 && vain < MAX_VAIN_SWEEPS; sweep += 1) {
    order = sweep % 2 === 0 ? sweepLayers(order, start.before, false) : sweepLayers(order, start.after, true);
    const found = countCrossings(order, start.after);
    vain = found < fewest ? 0 : vain + 1;
    if (found < fewest) [best, fewest] = [order, found];
  }
  return { ...start, order: best };
}

function insertBends(layer: readonly number[], edges: readonly (readonly [number, number])[]): Layers {
  const order: number[][] = Array.from({ length: Math.max(-1, ...layer) + 1 }, () => []);
  const before: number[][] = layer.map(() => []);
  const after: number[][] = layer.map(() => []);
  layer.forEach((at, task) => {
    order[at]?.push(task);
  });
  const span = ([from, to]: readonly [number, number]) => (layer[to] ?? 0) - (layer[from] ?? 0);
  const bent = edges.reduce((sum, edge) => sum + span(edge) - 1, 0) <= MAX_BENDS;
  const bends = edges.map(([from, to]) => {
    const edgeBends: number[] = [];
    for (let at = (layer[from] ?? 0) + 1; bent && at < (layer[to] ?? 0); at += 1) {
      edgeBends.push(before.length);
      order[at]?.push(before.length);
      before.push([]);
      after.push([]);
    }
    const path = [from, ...edgeBends, to];
    path.slice(1).forEach((vertex, place) => {
      const left = path[place] ?? from;
      after[left]?.push(vertex);
      before[vertex]?.push(left);
    });
    return edgeBends;
  });
  return { order, tasks: layer.length, before, after, bends };
}

/** Each layer in the order of the means of its neighbours; who has none stays where it is. */
function sweepLayers(
  order: readonly (readonly number[])[],
  neighbours: readonly (readonly number[])[],
  backwards: boolean,
): readonly (readonly number[])[] {
  const place = new Float64Array(neighbours.length);
  const sorted = order.map((vertices) => [...vertices]);
  for (const vertices of sorted) for (const [at, vertex] of vertices.entries()) place[vertex] = at;
  for (const vertices of backwards ? sorted.toReversed() : sorted) {
    const wanted = new Map(vertices.map((vertex) => [vertex, mean(neighbours[vertex] ?? [], place)]));
    const at = (vertex: number) => wanted.get(vertex) ?? place[vertex] ?? 0;
    vertices.sort((a, b) => at(a) - at(b) || (place[a] ?? 0) - (place[b] ?? 0));
    for (const [now, vertex] of vertices.entries()) place[vertex] = now;
  }
  return sorted;
}

function mean(vertices: readonly number[], place: Float64Array): number | undefined {
  if (vertices.length === 0) return undefined;
  return vertices.reduce((sum, vertex) => sum + (place[vertex] ?? 0), 0) / vertices.length;
}

/** How many pairs of lines cross between neighbouring layers. */
export function countCrossings(
  order: readonly (readonly number[])[],
  after: readonly (readonly number[])[],
): number {
  const place = new Map<number, number>();
  for (const vertices of order) for (const [at, vertex] of vertices.entries()) place.set(vertex, at);
  let found = 0;
  order.forEach((vertices, at) => {
    const counts = new Uint32Array((order[at + 1]?.length ?? 0) + 1);
    let drawn = 0;
    for (const vertex of vertices) {
      const ends = (after[vertex] ?? []).map((end) => place.get(end) ?? 0);
      for (const end of ends) found += drawn - countUpTo(counts, end);
      for (const end of ends) addEnd(counts, end);
      drawn += ends.length;
    }
  });
  return found;
}

/* A Fenwick tree: how many ends are at a place or above it. */

function addEnd(counts: Uint32Array, place: number): void {
  for (let at = place + 1; at < counts.length; at += at & -at) counts[at] = (counts[at] ?? 0) + 1;
}

function countUpTo(counts: Uint32Array, place: number): number {
  let sum = 0;
  for (let at = place + 1; at > 0; at -= at & -at) sum += counts[at] ?? 0;
  return sum;
}
