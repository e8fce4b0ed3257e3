import { QueryClientProvider } from "@tanstack/react-query";
import { Suspense } from "react";
import { Link, Route, Switch, useLocation } from "wouter";
import { BoardView } from "../board/BoardView";
import { useCommands } from "../commands/commands";
import { useKeyboardShortcuts } from "../commands/shortcuts";
import { ConfirmDialog } from "../components/ConfirmDialog";
import { EmptyState, LoadingState } from "../components/EmptyState";
import { ErrorBoundary, lazyView } from "../components/ErrorBoundary";
import { Toasts } from "../components/Toasts";
import { Editor } from "../editing/Editor";
import { useEditor } from "../editing/editorState";
import { LiveProvider } from "../live/LiveProvider";
import { queryClient } from "../live/queryClient";
import { Palette } from "../palette/Palette";
import { useFullScreenPanel } from "../task/panelState";
import { TaskPanel } from "../task/TaskPanel";
import styles from "./App.module.css";
import { ConnectionStatus } from "./ConnectionStatus";
import { routes, useOpenTask } from "./routes";
import { Sidebar } from "./Sidebar";
import { setTheme, useIsDark } from "./theme";
import { useWindowTitle } from "./useWindowTitle";

// The board is the first view; other views are loaded on demand. Dialogs and the panel, which a key opens, are not: what
// is typed next must reach them.
const BatchesView = lazyView(() => import("../batch/BatchesView"));
const ReviewView = lazyView(() => import("../review/ReviewView"));
const GraphView = lazyView(() => import("../graph/GraphView"));
const TimelineView = lazyView(() => import("../timeline/TimelineView"));
const SettingsView = lazyView(() => import("../settings/SettingsView"));

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
  const [path] = useLocation();
  const [open] = useOpenTask();
  const covered = useFullScreenPanel() && open !== null;
  const editing = useEditor((store) => store.open !== null);
  return (
    <div className={styles.layout}>
      <div className={styles.page} inert={covered}>
        <a className={styles.skip} href="#main">
          Skip to content
        </a>
        <Sidebar />
        <div className={styles.content}>
          <ConnectionStatus />
          <main id="main" className={styles.main} tabIndex={-1}>
            {/* The key removes the view before, or its error: while the next one loads, it would still take keys. */}
            <ErrorBoundary key={path}>
              <Suspense fallback={<LoadingState what="Loading" />}>
                <Routes />
              </Suspense>
            </ErrorBoundary>
          </main>
        </div>
      </div>
      {open && (
        <ErrorBoundary key={`${open.batch} ${open.task}`}>
          <TaskPanel open={open} />
        </ErrorBoundary>
      )}
      {editing && (
        <ErrorBoundary>
          <Editor />
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
        <EmptyState title="Page not found" page>
          <Link href={routes.board()}>Open the board</Link>
        </EmptyState>
      </Route>
    </Switch>
  );
}

/** Commands to navigate, available everywhere. */
function useNavigationCommands(): void {
  const [, navigate] = useLocation();
  const dark = useIsDark();
  useCommands([
    { id: "go-board", title: "Board", group: "Go to", keys: ["g b"], run: () => navigate(routes.board()) },
    {
      id: "go-batches",
      title: "Batches",
      group: "Go to",
      keys: ["g h"],
      run: () => navigate(routes.batches()),
    },
    {
      id: "go-settings",
      title: "Settings",
      group: "Go to",
      keys: ["g s"],
      run: () => navigate(routes.settings()),
    },
    {
      id: "theme",
      title: dark ? "Use the light theme" : "Use the dark theme",
      group: "Page",
      run: () => setTheme(dark ? "light" : "dark"),
    },
  ]);
}
