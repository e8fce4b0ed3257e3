import { ViewportPortal } from "@xyflow/react";
import { memo, useMemo } from "react";
import styles from "./EdgeLayer.module.css";
import { type EdgeKind, type EdgeRoute, edgePath } from "./edges";
import { setGraphFocus, useGraphFocus } from "./graphFocus";
import { type RenderChunk, useProgressiveRender } from "./progressiveRender";

const EDGES_PER_CHUNK = 120;

interface Props {
  edges: readonly EdgeRoute[];
  hidden: ReadonlySet<EdgeKind>;
}

/** All edges are one SVG behind the tasks, so that panning does not render them again. */
export const EdgeLayer = memo(function EdgeLayer({ edges, hidden }: Props) {
  const bundles = useProgressiveRender(
    useMemo(() => chunkEdges(edges), [edges]),
    EDGES_PER_CHUNK,
  );
  return (
    <ViewportPortal>
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: each line has its own label */}
      <svg className={styles.edges} data-hidden={[...hidden].join(" ")}>
        {bundles.map((bundle) => (
          <EdgeGroup key={bundle.key} edges={bundle.edges} />
        ))}
      </svg>
    </ViewportPortal>
  );
});

interface EdgeChunk extends RenderChunk {
  readonly edges: readonly EdgeRoute[];
}

function chunkEdges(edges: readonly EdgeRoute[]): EdgeChunk[] {
  return Array.from({ length: Math.ceil(edges.length / EDGES_PER_CHUNK) }, (_, at) => {
    const chunk = edges.slice(at * EDGES_PER_CHUNK, (at + 1) * EDGES_PER_CHUNK);
    return { key: String(at), weight: chunk.length, edges: chunk };
  });
}

const EdgeGroup = memo(function EdgeGroup({ edges }: { edges: readonly EdgeRoute[] }) {
  return edges.map((line) => <EdgeLine key={line.id} edge={line} />);
});

/** Its kind is shown by dashes and arrow head, not by colour alone. */
const EdgeLine = memo(function EdgeLine({
  edge: { id, from, to, kind, critical, route, label },
}: {
  edge: EdgeRoute;
}) {
  const near = useGraphFocus(
    ({ hovered, hoveredEdge }) =>
      hoveredEdge === id || (hovered !== null && (hovered === from || hovered === to)),
  );
  const inChain = useGraphFocus(
    ({ chain }) => near || (kind !== "file" && chain !== null && chain.has(from) && chain.has(to)),
  );
  const path = edgePath(route);
  return (
    // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: it only shows a text on hover
    <g
      className={styles.edge}
      role="img"
      aria-label={label}
      data-kind={kind}
      data-critical={critical || undefined}
      data-near={near || undefined}
      data-chained={inChain || undefined}
      onMouseEnter={() => setGraphFocus({ hoveredEdge: id })}
      onMouseLeave={() => setGraphFocus({ hoveredEdge: null })}
    >
      <path className={styles.hitArea} d={path} />
      <path className={styles.stroke} d={path} />
      {kind !== "file" && <path className={styles.arrowHead} d={arrowHead(route)} />}
    </g>
  );
});

function arrowHead(route: EdgeRoute["route"]): string {
  const { x, y } = route.at(-1) ?? { x: 0, y: 0 };
  return `M${x - 6} ${y - 3.5}L${x} ${y}L${x - 6} ${y + 3.5}z`;
}
