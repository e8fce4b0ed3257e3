import { Panel, useReactFlow } from "@xyflow/react";
import { useCommands } from "../commands/commands";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import styles from "./Flow.module.css";

export function ZoomControls({ fit }: { fit(): void }) {
  const flow = useReactFlow();
  useCommands([
    { id: "graph.fit", title: "Show the whole graph", group: "Graph", keys: ["f"], run: fit },
    { id: "graph.in", title: "Zoom in", group: "Graph", keys: ["+", "="], run: () => void flow.zoomIn() },
    { id: "graph.out", title: "Zoom out", group: "Graph", keys: ["-"], run: () => void flow.zoomOut() },
  ]);
  return (
    <Panel position="top-right" className={styles.zoom ?? ""}>
      <Button icon label="Zoom in" onClick={() => void flow.zoomIn()}>
        <Icon name="plus" />
      </Button>
      <Button icon label="Zoom out" onClick={() => void flow.zoomOut()}>
        <Icon name="minus" />
      </Button>
      <Button icon label="Show the whole graph" onClick={fit}>
        <Icon name="wide" />
      </Button>
    </Panel>
  );
}
