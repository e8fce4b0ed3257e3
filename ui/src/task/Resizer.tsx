import styles from "./TaskPanel.module.css";
import { MAX_WIDTH, MIN_WIDTH, setWidth, usePanel } from "./width";

const RESIZE_STEP = 24; // px

/** The left edge of the panel: dragged, or moved by the arrows. */
export function Resizer() {
  const width = usePanel((panel) => panel.width);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that can be moved, which <hr> can't
    <div
      role="separator"
      className={styles.resizer}
      aria-label="Width of the panel"
      aria-orientation="vertical"
      aria-valuemin={MIN_WIDTH}
      aria-valuemax={MAX_WIDTH}
      aria-valuenow={width}
      tabIndex={0}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        event.preventDefault();
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId))
          setWidth(window.innerWidth - event.clientX);
      }}
      onKeyDown={(event) => {
        const delta = { ArrowLeft: RESIZE_STEP, ArrowRight: -RESIZE_STEP }[event.key];
        if (delta === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        setWidth(width + delta);
      }}
    />
  );
}
