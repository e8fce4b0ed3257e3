/* How far down each vertex of a layer stands: as near to what it is linked with as its neighbours allow. Pure. */

import type { Layers } from "./ordering";

const PLACE_SWEEPS = 6;

/** `room` is what a vertex needs from top to bottom, with its share of the gaps. `fixed` layers stay as they are. */
export function placeVertices(
  layers: Layers,
  height: (vertex: number) => number,
  fixed: readonly (readonly number[] | null)[],
): Float64Array {
  const centers = new Float64Array(layers.before.length);
  layers.order.forEach((vertices, layer) => {
    const heights = vertices.map(height);
    const start = fixed[layer] ?? separate(stackCenters(heights), heights);
    for (const [at, vertex] of vertices.entries()) centers[vertex] = start[at] ?? 0;
  });
  for (let sweep = 0; sweep < PLACE_SWEEPS; sweep += 1) {
    const neighbours = sweep % 2 === 0 ? layers.before : layers.after;
    const range = layers.order.map((_, layer) => layer);
    for (const layer of sweep % 2 === 0 ? range : range.toReversed()) {
      const vertices = layers.order[layer] ?? [];
      if (fixed[layer]) continue;
      const wanted = vertices.map(
        (vertex) => mean(neighbours[vertex] ?? [], centers) ?? centers[vertex] ?? 0,
      );
      const found = separate(wanted, vertices.map(height));
      for (const [at, vertex] of vertices.entries()) centers[vertex] = found[at] ?? 0;
    }
  }
  return centers;
}

/** One below the other, around nought. */
export function stackCenters(heights: readonly number[]): number[] {
  const all = heights.reduce((sum, each) => sum + each, 0);
  let top = -all / 2;
  return heights.map((each) => {
    top += each;
    return top - each / 2;
  });
}

/** As near as can be to what is wanted (least squares) while each has its room and the order stays: neighbours that
    would overlap become one block, which stands at the mean of its members' wishes. */
export function separate(wanted: readonly number[], heights: readonly number[]): number[] {
  const offsets = stackCenters(heights);
  const blocks: { sum: number; count: number }[] = [];
  wanted.forEach((wish, at) => {
    let block = { sum: wish - (offsets[at] ?? 0), count: 1 };
    for (let last = blocks.at(-1); last && last.sum / last.count >= block.sum / block.count; ) {
      block = { sum: last.sum + block.sum, count: last.count + block.count };
      blocks.pop();
      last = blocks.at(-1);
    }
    blocks.push(block);
  });
  const shifts = blocks.flatMap(({ sum, count }) => new Array<number>(count).fill(sum / count));
  return offsets.map((offset, at) => offset + (shifts[at] ?? 0));
}

function mean(vertices: readonly number[], middle: Float64Array): number | undefined {
  if (vertices.length === 0) return undefined;
  return vertices.reduce((sum, vertex) => sum + (middle[vertex] ?? 0), 0) / vertices.length;
}
