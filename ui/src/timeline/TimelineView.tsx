import { useMemo } from "react";
import { useTimeline } from "../api/queries";
import type { Timeline } from "../api/types";
import { BatchHeader, LoadError } from "../batch/BatchHeader";
import { useCommands } from "../commands/commands";
import { Button } from "../components/Button";
import { EmptyState, LoadingState } from "../components/EmptyState";
import { useNow } from "../components/hooks";
import { Icon } from "../components/Icon";
import { Gantt, KIND_LETTERS } from "./Gantt";
import { buildChart, type Chart, isRunning } from "./layout";
import { useZoom, type Zoom } from "./panZoom";
import styles from "./TimelineView.module.css";
import { formatSummary, KIND_NAMES, summarizeTimeline } from "./timelineText";

export default function TimelineView({ batchId }: { batchId: string }) {
  const { data, error, refetch } = useTimeline(batchId);
  return (
    <div className={styles.view}>
      <BatchHeader batchId={batchId} />
      {data ? (
        <TimelineContent key={data.batchId} line={data} />
      ) : error ? (
        <LoadError error={error} onRetry={() => void refetch()} />
      ) : (
        <LoadingState what="Loading the timeline" />
      )}
    </div>
  );
}

function TimelineContent({ line }: { line: Timeline }) {
  const now = useNow(isRunning(line));
  const chart = useMemo(() => buildChart(line, now), [line, now]);
  if (chart === null || chart.rows.length === 0)
    return <EmptyState title="Nothing to show yet">Attempts appear here once they start.</EmptyState>;
  return <TimelineChart line={line} chart={chart} />;
}

function TimelineChart({ line, chart }: { line: Timeline; chart: Chart }) {
  const zoom = useZoom(chart.scale.length);
  return (
    <>
      <div className={styles.toolbar}>
        <p className={styles.summary}>{formatSummary(summarizeTimeline(line, chart))}</p>
        <TimelineLegend chart={chart} />
        <ZoomButtons zoom={zoom} />
      </div>
      <Gantt batchId={line.batchId} chart={chart} zoom={zoom} />
    </>
  );
}

/** The legend, only with symbols that occur. */
function TimelineLegend({ chart: { rows, batchBars } }: { chart: Chart }) {
  const bars = [...rows.flatMap((row) => row.bars), ...batchBars];
  const gaps = rows.flatMap((row) => row.gaps);
  const kinds = Object.keys(KIND_LETTERS) as (keyof typeof KIND_LETTERS)[];
  return (
    <ul className={styles.legend} aria-label="Legend">
      {kinds
        .filter((kind) => bars.some(({ span }) => span.kind === kind))
        .map((kind) => (
          <li key={kind}>
            <span className={styles.letter}>{KIND_LETTERS[kind]}</span> {KIND_NAMES[kind].toLowerCase()}
          </li>
        ))}
      {bars.some((bar) => bar.retry !== null) && (
        <li>
          <span className={styles.letter}>✕</span> failed
        </li>
      )}
      {gaps.some(({ backoff }) => backoff === null) && (
        <li>
          <span className={styles.waitSample} /> waiting
        </li>
      )}
      {gaps.some(({ backoff }) => backoff !== null) && (
        <li>
          <span className={styles.backoffSample} /> backing off
        </li>
      )}
    </ul>
  );
}

function ZoomButtons({ zoom: { factor, maxFactor, zoomBy, fit } }: { zoom: Zoom }) {
  const [isMinimum, atMinimum] = [factor <= 1, factor <= 1 ? "Everything is shown already" : null];
  const atMaximum = factor >= maxFactor ? "Already at maximum zoom" : null;
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
