import { QueryClientProvider } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { Route, Switch } from "wouter";
import { BoardView } from "../board/BoardView";
import { useKeyboardShortcuts } from "../commands/keys";
import { useEditor } from "../editing/editor";
import { queryClient } from "../live/queries";
import { LiveProvider } from "../live/useLive";
import { Palette } from "../palette/Palette";
import { ConfirmDialog } from "../parts/Confirm";
import { EmptyState, LoadingState } from "../parts/Empty";
import { Toasts } from "../parts/Toasts";
import { useFullScreenPanel } from "../task/width";
import styles from "./App.module.css";
import { useOpenTask } from "./address";
import { ErrorBoundary } from "./Boundary";
import { useNavigationCommands } from "./goto";
import { useWindowTitle } from "./heading";
import { ConnectionStatus } from "./LinkState";
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
    <QueryClientProvider client={queryClient}>
      <LiveProvider>
        <Layout />
      </LiveProvider>
    </QueryClientProvider>
  );
}

function Layout() {
  useKeyboardShortcuts();
  useNavigationCommands();
  useWindowTitle();
  const [open] = useOpenTask();
  const covered = useFullScreenPanel() && open !== null;
  const editing = useEditor((store) => store.open !== null);
  return (
    <div className={styles.frame}>
      <div className={styles.page} inert={covered}>
        <a className={styles.skip} href="#main">
          Skip to the tasks
        </a>
        <Sidebar />
        <div className={styles.stage}>
          <ConnectionStatus />
          <main id="main" className={styles.main} tabIndex={-1}>
            <ErrorBoundary>
              <Suspense fallback={<LoadingState what="Loading" />}>
                <Routes />
              </Suspense>
            </ErrorBoundary>
          </main>
        </div>
      </div>
      {open && (
        <ErrorBoundary key={`${open.batch} ${open.task}`}>
          <Suspense fallback={null}>
            <TaskPanel open={open} />
          </Suspense>
        </ErrorBoundary>
      )}
      {editing && (
        <ErrorBoundary>
          <Suspense fallback={null}>
            <Editor />
          </Suspense>
        </ErrorBoundary>
      )}
      <Palette />
      <ConfirmDialog />
      <Toasts />
    </div>
  );
}

function Routes() {
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
        <EmptyState title="There is nothing at this address">
          The board is at the root of this page.
        </EmptyState>
      </Route>
    </Switch>
  );
}
