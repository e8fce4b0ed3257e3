import { ViewportPortal } from "@xyflow/react";
import { memo } from "react";
import type { Line } from "./elements";
import styles from "./Lines.module.css";
import { lookAt, useLooking } from "./looking";

/** All lines are one drawing behind the tasks: thousands of them cost little, and moving the view draws none anew. */
export const Lines = memo(function Lines({ lines }: { lines: readonly Line[] }) {
  return (
    <ViewportPortal>
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: each line has its own words */}
      <svg className={styles.lines}>
        {lines.map((line) => (
          <Drawn key={line.id} line={line} />
        ))}
      </svg>
    </ViewportPortal>
  );
});

/** Its kind is told by its dashes and its tip, not by colour alone. */
const Drawn = memo(function Drawn({
  line: { id, from, to, kind, critical, path, end, words },
}: {
  line: Line;
}) {
  const near = useLooking(
    ({ over, line }) => line === id || (over !== null && (over === from || over === to)),
  );
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
      {kind !== "file" && <path className={styles.tip} d={tip(end)} />}
    </g>
  );
});

function tip({ x, y }: Line["end"]): string {
  return `M${x - 6} ${y - 3.5}L${x} ${y}L${x - 6} ${y + 3.5}z`;
}
