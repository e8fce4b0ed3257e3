import { useCommands } from "../commands/commands";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import styles from "./TimelineView.module.css";
import type { Zoom } from "./useZoom";

export function ZoomButtons({ zoom: { factor, most, by, fit } }: { zoom: Zoom }) {
  const [least, whole] = [factor <= 1, factor <= 1 ? "All of it is shown" : null];
  const finest = factor >= most ? "It is as large as can be" : null;
  useCommands([
    {
      id: "timeline.fit",
      title: "Show the whole timeline",
      group: "Timeline",
      keys: ["f"],
      disabled: whole,
      run: fit,
    },
    {
      id: "timeline.in",
      title: "Zoom in",
      group: "Timeline",
      keys: ["+", "="],
      disabled: finest,
      run: () => by(1),
    },
    {
      id: "timeline.out",
      title: "Zoom out",
      group: "Timeline",
      keys: ["-"],
      disabled: whole,
      run: () => by(-1),
    },
  ]);
  return (
    <div className={styles.zoom}>
      <Button icon label="Zoom in" disabled={finest} onClick={() => by(1)}>
        <Icon name="plus" />
      </Button>
      <Button icon label="Zoom out" disabled={least && whole} onClick={() => by(-1)}>
        <Icon name="minus" />
      </Button>
      <Button icon label="Show the whole timeline" disabled={whole} onClick={fit}>
        <Icon name="wide" />
      </Button>
    </div>
  );
}
