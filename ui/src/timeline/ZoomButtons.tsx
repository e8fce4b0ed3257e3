import { useCommands } from "../commands/commands";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import styles from "./TimelineView.module.css";
import type { Zoom } from "./useZoom";

export function ZoomButtons({ zoom: { factor, maxFactor, zoomBy, fit } }: { zoom: Zoom }) {
  const [isMinimum, atMinimum] = [factor <= 1, factor <= 1 ? "All of it is shown" : null];
  const atMaximum = factor >= maxFactor ? "It is as large as can be" : null;
  useCommands([
    {
      id: "timeline.fit",
      title: "Show the whole timeline",
      group: "Timeline",
      keys: ["f"],
      disabled: atMinimum,
      run: fit,
    },
    {
      id: "timeline.in",
      title: "Zoom in",
      group: "Timeline",
      keys: ["+", "="],
      disabled: atMaximum,
      run: () => zoomBy(1),
    },
    {
      id: "timeline.out",
      title: "Zoom out",
      group: "Timeline",
      keys: ["-"],
      disabled: atMinimum,
      run: () => zoomBy(-1),
    },
  ]);
  return (
    <div className={styles.zoom}>
      <Button icon label="Zoom in" disabled={atMaximum} onClick={() => zoomBy(1)}>
        <Icon name="plus" />
      </Button>
      <Button icon label="Zoom out" disabled={isMinimum && atMinimum} onClick={() => zoomBy(-1)}>
        <Icon name="minus" />
      </Button>
      <Button icon label="Show the whole timeline" disabled={atMinimum} onClick={fit}>
        <Icon name="wide" />
      </Button>
    </div>
  );
}
