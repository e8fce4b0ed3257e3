import { QueryClientProvider } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { Route, Switch } from "wouter";
import { BoardView } from "../board/BoardView";
import { useKeys } from "../commands/keys";
import { useEditor } from "../editing/editor";
import { queries } from "../live/queries";
import { LiveProvider } from "../live/useLive";
import { Palette } from "../palette/Palette";
import { Confirm } from "../parts/Confirm";
import { Empty, Loading } from "../parts/Empty";
import { Toasts } from "../parts/Toasts";
import { useCovers } from "../task/width";
import styles from "./App.module.css";
import { useOpenTask } from "./address";
import { Boundary } from "./Boundary";
import { useGoTo } from "./goto";
import { useHeading } from "./heading";
import { LinkState } from "./LinkState";
import { Sidebar } from "./Sidebar";

// The first view is the board: everything else comes when it is asked for.
const BatchesView = lazy(() => import("../batch/BatchesView"));
const ReviewView = lazy(() => import("../review/ReviewView"));
const GraphView = lazy(() => import("../graph/GraphView"));
const TimelineView = lazy(() => import("../timeline/TimelineView"));
const SettingsView = lazy(() => import("../settings/SettingsView"));
const Editor = lazy(() => import("../editing/Editor"));
const TaskPanel = lazy(() => import("../task/TaskPanel"));

export function App() {
  return (
    <QueryClientProvider client={queries}>
      <LiveProvider>
        <Frame />
      </LiveProvider>
    </QueryClientProvider>
  );
}

function Frame() {
  useKeys();
  useGoTo();
  useHeading();
  const [open] = useOpenTask();
  const covered = useCovers() && open !== null;
  const writing = useEditor((store) => store.open !== null);
  return (
    <div className={styles.frame}>
      <div className={styles.page} inert={covered}>
        <a className={styles.skip} href="#main">
          Skip to the tasks
        </a>
        <Sidebar />
        <div className={styles.stage}>
          <LinkState />
          <main id="main" className={styles.main} tabIndex={-1}>
            <Boundary>
              <Suspense fallback={<Loading what="Loading" />}>
                <Views />
              </Suspense>
            </Boundary>
          </main>
        </div>
      </div>
      {open && (
        <Boundary key={`${open.batch} ${open.task}`}>
          <Suspense fallback={null}>
            <TaskPanel open={open} />
          </Suspense>
        </Boundary>
      )}
      {writing && (
        <Boundary>
          <Suspense fallback={null}>
            <Editor />
          </Suspense>
        </Boundary>
      )}
      <Palette />
      <Confirm />
      <Toasts />
    </div>
  );
}

function Views() {
  return (
    <Switch>
      <Route path="/" component={BoardView} />
      <Route path="/batches" component={BatchesView} />
      <Route path="/batches/:id">
        {({ id }) => <ReviewView key={id} batchId={decodeURIComponent(id)} />}
      </Route>
      <Route path="/batches/:id/graph">
        {({ id }) => <GraphView key={id} batchId={decodeURIComponent(id)} />}
      </Route>
      <Route path="/batches/:id/timeline">
        {({ id }) => <TimelineView key={id} batchId={decodeURIComponent(id)} />}
      </Route>
      <Route path="/settings" component={SettingsView} />
      <Route>
        <Empty title="There is nothing at this address">The board is at the root of this page.</Empty>
      </Route>
    </Switch>
  );
}
