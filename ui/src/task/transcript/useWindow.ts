import { useEffect, useState, useSyncExternalStore } from "react";
import { ApiError } from "../../api/client";
import { useLive } from "../../live/useLive";
import { TranscriptPages } from "./pages";
import { type AttemptRef, createReader } from "./reads";
import { TranscriptWindow, type WindowView } from "./window";

const POLL_MS = 1000; // ms between two looks while it is at work
const EVENT_DELAY_MS = 250; // ms between two looks while it speaks

/** A window on this transcript, kept up with while the attempt is at work. The attempt is not to change: draw another one. */
export function useTranscriptWindow(of: AttemptRef, pretty: boolean): [TranscriptWindow, WindowView] {
  const [transcript] = useState(() => new TranscriptWindow(new TranscriptPages(createReader(of, pretty))));
  const view = useSyncExternalStore(transcript.subscribe, () => transcript.view);
  const live = useLive();
  const { batchId, taskId } = of;
  useEffect(() => {
    void transcript.grow();
  }, [transcript]);
  const refused = view.failure instanceof ApiError && view.failure.status < 500;
  useEffect(() => {
    if (view.ended) return;
    let eventTimer = 0;
    const refresh = () => {
      window.clearTimeout(eventTimer);
      eventTimer = 0;
      if (document.visibilityState === "visible") void transcript.grow();
    };
    const timer = refused ? 0 : window.setInterval(refresh, POLL_MS); // only an event can change a refusal
    const stop = live?.subscribe((event) => {
      const isOwn = event.batchId === batchId && event.taskId === taskId;
      if (isOwn && eventTimer === 0) eventTimer = window.setTimeout(refresh, EVENT_DELAY_MS);
    });
    return () => {
      window.clearInterval(timer);
      window.clearTimeout(eventTimer);
      stop?.();
    };
  }, [transcript, view.ended, refused, live, batchId, taskId]);
  return [transcript, view];
}
