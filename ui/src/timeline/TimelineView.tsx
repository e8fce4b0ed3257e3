import { useMemo } from "react";
import type { Timeline } from "../api/types";
import { BatchHeader } from "../batch/BatchHeader";
import { LoadError } from "../graph/Unread";
import { EmptyState, LoadingState } from "../parts/Empty";
import { useNow } from "../parts/now";
import { Gantt } from "./Gantt";
import { TimelineLegend } from "./Key";
import { buildChart, type Chart, isRunning } from "./layout";
import { formatSummary, summarizeTimeline } from "./summary";
import styles from "./TimelineView.module.css";
import { useTimeline } from "./useTimeline";
import { useZoom } from "./useZoom";
import { ZoomButtons } from "./ZoomButtons";

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
    return <EmptyState title="Nothing has happened yet">Attempts stand here once there are some.</EmptyState>;
  return <TimelineChart line={line} chart={chart} />;
}

function TimelineChart({ line, chart }: { line: Timeline; chart: Chart }) {
  const zoom = useZoom(chart.to - chart.from);
  return (
    <>
      <div className={styles.bar}>
        <p className={styles.summary}>{formatSummary(summarizeTimeline(line, chart))}</p>
        <TimelineLegend chart={chart} />
        <ZoomButtons zoom={zoom} />
      </div>
      <Gantt batchId={line.batchId} chart={chart} zoom={zoom} />
    </>
  );
}
