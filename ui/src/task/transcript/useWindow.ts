import { useEffect, useState, useSyncExternalStore } from "react";
import { Refused } from "../../api/client";
import { useLive } from "../../live/useLive";
import { Pages } from "./pages";
import { type Attempt, readsOf } from "./reads";
import { type View, Window } from "./window";

const PATIENCE = 1000; // ms between two looks while it is at work
const AT_MOST = 250; // ms between two looks while it speaks

/** A window on this transcript, kept up with while the attempt is at work. The attempt is not to change: draw another one. */
export function useWindow(of: Attempt, pretty: boolean): [Window, View] {
  const [opened] = useState(() => new Window(new Pages(readsOf(of, pretty))));
  const view = useSyncExternalStore(opened.watch, () => opened.view);
  const live = useLive();
  const { batchId, taskId } = of;
  useEffect(() => {
    void opened.grow();
  }, [opened]);
  const refused = view.failure instanceof Refused && view.failure.status < 500;
  useEffect(() => {
    if (view.ended) return;
    let soon = 0;
    const look = () => {
      window.clearTimeout(soon);
      soon = 0;
      if (document.visibilityState === "visible") void opened.grow();
    };
    const timer = refused ? 0 : window.setInterval(look, PATIENCE); // only an event can change a refusal
    const stop = live?.onEvent((event) => {
      const mine = event.batchId === batchId && event.taskId === taskId;
      if (mine && soon === 0) soon = window.setTimeout(look, AT_MOST);
    });
    return () => {
      window.clearInterval(timer);
      window.clearTimeout(soon);
      stop?.();
    };
  }, [opened, view.ended, refused, live, batchId, taskId]);
  return [opened, view];
}
