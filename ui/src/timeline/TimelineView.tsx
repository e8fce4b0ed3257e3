import { useMemo } from "react";
import type { Timeline } from "../api/types";
import { BatchHeader } from "../batch/BatchHeader";
import { Unread } from "../graph/Unread";
import { Empty, Loading } from "../parts/Empty";
import { useNow } from "../parts/now";
import { Gantt } from "./Gantt";
import { Key } from "./Key";
import { type Chart, chartOf, isRunning } from "./layout";
import { summaryOf, summaryWords } from "./summary";
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
        <Drawn key={data.batchId} line={data} />
      ) : error ? (
        <Unread error={error} again={() => void refetch()} />
      ) : (
        <Loading what="Loading the timeline" />
      )}
    </div>
  );
}

function Drawn({ line }: { line: Timeline }) {
  const now = useNow(isRunning(line));
  const chart = useMemo(() => chartOf(line, now), [line, now]);
  if (chart === null || chart.rows.length === 0)
    return <Empty title="Nothing has happened yet">Attempts stand here once there are some.</Empty>;
  return <Charted line={line} chart={chart} />;
}

function Charted({ line, chart }: { line: Timeline; chart: Chart }) {
  const zoom = useZoom(chart.to - chart.from);
  return (
    <>
      <div className={styles.bar}>
        <p className={styles.summary}>{summaryWords(summaryOf(line, chart))}</p>
        <Key chart={chart} />
        <ZoomButtons zoom={zoom} />
      </div>
      <Gantt batchId={line.batchId} chart={chart} zoom={zoom} />
    </>
  );
}
