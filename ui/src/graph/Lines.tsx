import { ViewportPortal } from "@xyflow/react";
import { memo, useMemo } from "react";
import { curve, type Line } from "./elements";
import type { Kind } from "./kinds";
import styles from "./Lines.module.css";
import { lookAt, useLooking } from "./looking";
import { type Part, useShares } from "./shares";

const SHARE = 120;

interface Props {
  lines: readonly Line[];
  hidden: ReadonlySet<Kind>;
}

/** All lines are one drawing behind the tasks: thousands of them cost little, and moving the view draws none anew. */
export const Lines = memo(function Lines({ lines, hidden }: Props) {
  const bundles = useShares(
    useMemo(() => bundled(lines), [lines]),
    SHARE,
  );
  return (
    <ViewportPortal>
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: each line has its own words */}
      <svg className={styles.lines} data-hidden={[...hidden].join(" ")}>
        {bundles.map((bundle) => (
          <Drawn key={bundle.key} lines={bundle.lines} />
        ))}
      </svg>
    </ViewportPortal>
  );
});

interface Bundle extends Part {
  readonly lines: readonly Line[];
}

function bundled(lines: readonly Line[]): Bundle[] {
  return Array.from({ length: Math.ceil(lines.length / SHARE) }, (_, at) => {
    const mine = lines.slice(at * SHARE, (at + 1) * SHARE);
    return { key: String(at), weight: mine.length, lines: mine };
  });
}

const Drawn = memo(function Drawn({ lines }: { lines: readonly Line[] }) {
  return lines.map((line) => <One key={line.id} line={line} />);
});

/** Its kind is told by its dashes and its tip, not by colour alone. */
const One = memo(function One({ line: { id, from, to, kind, critical, route, words } }: { line: Line }) {
  const near = useLooking(
    ({ over, line }) => line === id || (over !== null && (over === from || over === to)),
  );
  const path = curve(route);
  return (
    // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: it tells about itself under the pointer, and does nothing
    <g
      className={styles.line}
      role="img"
      aria-label={words}
      data-kind={kind}
      data-critical={critical || undefined}
      data-near={near || undefined}
      onMouseEnter={() => lookAt({ line: id })}
      onMouseLeave={() => lookAt({ line: null })}
    >
      <path className={styles.reach} d={path} />
      <path className={styles.stroke} d={path} />
      {kind !== "file" && <path className={styles.tip} d={tip(route)} />}
    </g>
  );
});

function tip(route: Line["route"]): string {
  const { x, y } = route.at(-1) ?? { x: 0, y: 0 };
  return `M${x - 6} ${y - 3.5}L${x} ${y}L${x - 6} ${y + 3.5}z`;
}
