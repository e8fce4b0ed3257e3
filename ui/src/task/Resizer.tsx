import styles from "./TaskPanel.module.css";
import { NARROWEST, setWidth, usePanel, WIDEST } from "./width";

const STEP = 24; // px

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
      aria-valuemin={NARROWEST}
      aria-valuemax={WIDEST}
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
        const by = { ArrowLeft: STEP, ArrowRight: -STEP }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        setWidth(width + by);
      }}
    />
  );
}
