import {
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { ApiError } from "../../api/client";
import { useCommands } from "../../commands/commands";
import { Button } from "../../components/Button";
import { EmptyState, ErrorState, LoadingState } from "../../components/EmptyState";
import { Icon } from "../../components/Icon";
import { useLive } from "../../live/LiveProvider";
import { formatSize } from "../../model/format";
import { CopyMenu, selectedText } from "./CopyMenu";
import { Scrollbar } from "./Scrollbar";
import styles from "./Transcript.module.css";
import {
  type SearchText,
  TranscriptFind,
  type TranscriptSearch,
  useTranscriptSearch,
} from "./TranscriptFind";
import { skippedRows, TranscriptRows } from "./TranscriptRows";
import { TranscriptPages } from "./transcriptPages";
import { type AttemptRef, createReader } from "./transcriptReader";
import { ROW_HEIGHT, TranscriptWindow, type WindowView } from "./transcriptWindow";

interface Props {
  of: AttemptRef;
  /** It is the newest attempt of its step. */
  newest: boolean;
  pretty: boolean;
  /** Content before the toolbar: the attempt and its format. */
  children?: ReactNode;
  /** How it ended, as text. */
  end?: string | null;
  /** Called when the reader stops or starts following the end. */
  onReading?: (reads: boolean) => void;
  /** What is searched for, if it is kept for other transcripts. */
  searchText?: SearchText;
  /** The search has the focus. */
  searching?: boolean;
}

/** The transcript of an attempt, of any length. */
export function Transcript({
  of,
  newest,
  pretty,
  children,
  end = null,
  onReading,
  searchText,
  searching = false,
}: Props) {
  const [shown, view] = useTranscriptWindow(of, pretty);
  const latestOnReading = useRef(onReading);
  latestOnReading.current = onReading;
  useEffect(() => latestOnReading.current?.(!view.following), [view.following]);
  const ownText = useState("");
  const finder = useTranscriptSearch(shown, searchText ?? ownText);
  const scroller = useRef<HTMLDivElement>(null);
  useCommands([
    { id: "log-end", title: "Go to the end of the log", group: "Task", run: () => void shown.jumpToEnd() },
    { id: "log-start", title: "Go to the start of the log", group: "Task", run: () => void shown.jumpTo(0) },
  ]);
  return (
    <div className={styles.transcript}>
      <div className={styles.tools}>
        {children}
        <TranscriptFind finder={finder} view={view} takesFocus={searching} />
        <CopyMenu of={of} newest={newest} shown={shown} scroller={scroller} />
      </div>
      {view.ready && view.failure !== null && (
        <LoadFailure failure={view.failure} onRetry={() => void shown.grow()} />
      )}
      {view.ready && view.size > 0 ? (
        <TranscriptView
          {...{ shown, view, finder, scroller, pretty }}
          name={`Transcript: ${of.step} ${of.attempt}`}
        />
      ) : (
        <NoTranscript view={view} onRetry={() => void shown.grow()} />
      )}
      <p className={styles.footer}>
        {view.ready && <span>{formatSize(view.size)}</span>}
        <span>{view.ended ? (end ?? "Ended") : view.ready ? "Running" : ""}</span>
        {!view.ended && view.ready && <span>{view.following ? "Following" : "Not following"}</span>}
      </p>
    </div>
  );
}

interface TranscriptViewProps {
  shown: TranscriptWindow;
  view: WindowView;
  finder: TranscriptSearch;
  scroller: React.RefObject<HTMLDivElement | null>;
  pretty: boolean;
  name: string;
}

function TranscriptView({ shown, view, finder, scroller, pretty, name }: TranscriptViewProps) {
  const [height, setHeight] = useState(0);
  const probe = useRef<HTMLSpanElement>(null);
  const setScrollTop = useRef(-1);
  const lastScrollTop = useRef(0);
  const id = useId();
  useLayoutEffect(() => {
    const box = scroller.current;
    if (box === null) return;
    const inset = INSET + (pretty ? MARKER : 0);
    const measure = () => {
      const letter = (probe.current?.getBoundingClientRect().width ?? 0) / PROBE.length;
      if (letter > 0) shown.setColumns(Math.max(20, Math.floor((box.clientWidth - inset) / letter)));
      setHeight(box.clientHeight);
      shown.onScroll(shown.top(), box.clientHeight, shown.view.following);
    };
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    measure();
    return () => observer.disconnect();
  }, [shown, scroller, pretty]);
  const onScroll = () => {
    const box = scroller.current;
    if (box === null) return;
    const isOwnScroll = Math.abs(box.scrollTop - setScrollTop.current) < 1;
    setScrollTop.current = -1;
    lastScrollTop.current = box.scrollTop;
    shown.onScroll(box.scrollTop, box.clientHeight, isOwnScroll ? shown.view.following : null);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the position is kept after every change
  useLayoutEffect(() => {
    const box = scroller.current;
    if (box === null) return;
    if (hasUserScrolled(box, lastScrollTop.current)) return onScroll();
    const top = shown.top();
    if (Math.abs(box.scrollTop - top) < 1) return;
    box.scrollTop = top;
    setScrollTop.current = lastScrollTop.current = box.scrollTop;
  }, [view, height]);
  const [from, to] = [Math.floor(shown.top() / ROW_HEIGHT), Math.ceil((shown.top() + height) / ROW_HEIGHT)];
  return (
    <div className={styles.view} data-pretty={pretty || undefined}>
      {/* biome-ignore lint/a11y/useSemanticElements: a scrollable region must be focusable and have a name */}
      <div
        ref={scroller}
        id={id}
        className={styles.scroller}
        role="region"
        aria-label={name}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keyboard
        tabIndex={0}
        onScroll={onScroll}
        onWheel={({ deltaY, currentTarget: box }) => {
          if (deltaY < 0 && view.following) shown.onScroll(box.scrollTop, box.clientHeight, false);
        }}
        onKeyDown={(event) => {
          if (SCROLL_KEYS.has(event.key)) event.stopPropagation();
          if (event.key !== "Home" && event.key !== "End") return;
          event.preventDefault();
          void (event.key === "End" ? shown.jumpToEnd() : shown.jumpTo(0));
        }}
        onCopy={(event) => {
          const text = scroller.current === null ? null : selectedText(scroller.current);
          if (text === null) return;
          event.preventDefault();
          event.clipboardData.setData("text/plain", text);
        }}
      >
        <div className={styles.spacer} style={{ height: view.total * ROW_HEIGHT }}>
          <div
            className={styles.rows}
            style={{ transform: `translateY(${skippedRows(shown, from) * ROW_HEIGHT}px)` }}
          >
            <TranscriptRows shown={shown} from={from} to={to} query={finder.query} current={finder.current} />
          </div>
        </div>
        <span ref={probe} className={styles.probe} aria-hidden="true">
          {PROBE}
        </span>
      </div>
      <Scrollbar shown={shown} height={height} controls={id} />
      {!view.following && (
        <Button className={styles.jump} onClick={() => void shown.jumpToEnd()}>
          <Icon name="down" />
          Jump to the end
        </Button>
      )}
    </div>
  );
}

/** Whether the user scrolled: content that became shorter also scrolls, to its end. */
function hasUserScrolled(box: HTMLElement, lastScrollTop: number): boolean {
  const atEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 1;
  return Math.abs(box.scrollTop - lastScrollTop) >= 1 && !(box.scrollTop < lastScrollTop && atEnd);
}

const PROBE = "x".repeat(100);
const INSET = 32; // px beside the text
const MARKER = 14; // px of the mark before each message
const SCROLL_KEYS = new Set(["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", " "]);

function NoTranscript({ view, onRetry }: { view: WindowView; onRetry: () => void }) {
  const { failure, ready, ended } = view;
  if (ready && ended) return <EmptyState title="No output" />;
  if (ready) return <EmptyState title="No output yet">Output appears here as it is printed.</EmptyState>;
  if (failure instanceof ApiError && failure.status === 409)
    return <EmptyState title={failure.message}>{failure.hint}</EmptyState>;
  if (failure !== null) return <ErrorState error={failure} onRetry={onRetry} />;
  return <LoadingState what="Loading the transcript" />;
}

function LoadFailure({ failure, onRetry }: { failure: unknown; onRetry: () => void }) {
  return (
    <div className={styles.failure}>
      <ErrorState error={failure} onRetry={onRetry} />
    </div>
  );
}

const POLL_MS = 1000; // ms between two requests while it runs
const EVENT_DELAY_MS = 250; // ms after the last event of an attempt that has no output yet

/** A window on this transcript, updated while the attempt runs. For another attempt, mount another one. */
function useTranscriptWindow(of: AttemptRef, pretty: boolean): [TranscriptWindow, WindowView] {
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
    const refresh = () => {
      if (document.visibilityState === "visible") void transcript.grow();
    };
    if (!refused) {
      const timer = window.setInterval(refresh, POLL_MS);
      return () => window.clearInterval(timer);
    }
    let timer = 0; // only an event can change a refusal
    const stop = live?.subscribe((event) => {
      if (event.batchId !== batchId || event.taskId !== taskId) return;
      window.clearTimeout(timer);
      timer = window.setTimeout(refresh, EVENT_DELAY_MS);
    });
    return () => {
      window.clearTimeout(timer);
      stop?.();
    };
  }, [transcript, view.ended, refused, live, batchId, taskId]);
  return [transcript, view];
}
