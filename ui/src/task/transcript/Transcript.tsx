import { type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { Refused } from "../../api/client";
import { useCommands } from "../../commands/commands";
import { Button } from "../../parts/Button";
import { Empty, Failure, Loading } from "../../parts/Empty";
import { Icon } from "../../parts/Icon";
import { Bar } from "./Bar";
import { CopyMenu } from "./CopyMenu";
import { selected } from "./copying";
import { FindBar } from "./FindBar";
import { Rows, size, skipped } from "./Rows";
import type { Attempt } from "./reads";
import styles from "./Transcript.module.css";
import { type Finder, useFinder } from "./useFinder";
import { useWindow } from "./useWindow";
import { ROW, type View, type Window } from "./window";

interface Props {
  of: Attempt;
  /** It is the last one of its step. */
  newest: boolean;
  pretty: boolean;
  /** In front of the tools: which attempt, and how it is read. */
  children?: ReactNode;
  /** How it ended, in words. */
  end?: string | null;
  /** Somebody reads it, and does not follow its end; or does again. */
  onReading?: (reads: boolean) => void;
}

/** What an attempt printed, however long that is. */
export function Transcript({ of, newest, pretty, children, end = null, onReading }: Props) {
  const [shown, view] = useWindow(of, pretty);
  const told = useRef(onReading);
  told.current = onReading;
  useEffect(() => told.current?.(!view.follows), [view.follows]);
  const finder = useFinder(shown);
  const scroller = useRef<HTMLDivElement>(null);
  useCommands([
    {
      id: "log-find",
      title: "Find in the log",
      group: "Task",
      keys: ["/"],
      run: () => document.getElementById(FIND)?.focus(),
    },
    { id: "log-end", title: "Go to the end of the log", group: "Task", run: () => void shown.end() },
    { id: "log-start", title: "Go to the start of the log", group: "Task", run: () => void shown.to(0) },
  ]);
  return (
    <div className={styles.transcript}>
      <div className={styles.tools}>
        {children}
        <FindBar id={FIND} finder={finder} view={view} />
        <CopyMenu of={of} newest={newest} shown={shown} scroller={scroller} />
      </div>
      {view.ready && view.failure !== null && (
        <Broken failure={view.failure} again={() => void shown.grow()} />
      )}
      {view.ready && view.size > 0 ? (
        <Sheet {...{ shown, view, finder, scroller, pretty }} name={`Transcript: ${of.step} ${of.attempt}`} />
      ) : (
        <Nothing view={view} again={() => void shown.grow()} />
      )}
      <p className={styles.foot}>
        {view.ready && <span>{size(view.size)}</span>}
        <span>{view.ended ? (end ?? "Ended") : view.ready ? "At work" : ""}</span>
        {!view.ended && view.ready && <span>{view.follows ? "Following" : "Not following"}</span>}
      </p>
    </div>
  );
}

const FIND = "find-in-log";

interface SheetProps {
  shown: Window;
  view: View;
  finder: Finder;
  scroller: React.RefObject<HTMLDivElement | null>;
  pretty: boolean;
  name: string;
}

function Sheet({ shown, view, finder, scroller, pretty, name }: SheetProps) {
  const [height, setHeight] = useState(0);
  const probe = useRef<HTMLSpanElement>(null);
  const placed = useRef(-1);
  const heard = useRef(0);
  const id = useId();
  useLayoutEffect(() => {
    const box = scroller.current;
    if (box === null) return;
    const measure = () => {
      const letter = (probe.current?.getBoundingClientRect().width ?? 0) / PROBE.length;
      if (letter > 0) shown.wide(Math.max(20, Math.floor((box.clientWidth - INSET) / letter)));
      setHeight(box.clientHeight);
      shown.seen(shown.top(), box.clientHeight, shown.view.follows);
    };
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    measure();
    return () => observer.disconnect();
  }, [shown, scroller]);
  const scrolled = () => {
    const box = scroller.current;
    if (box === null) return;
    const mine = Math.abs(box.scrollTop - placed.current) < 1;
    placed.current = -1;
    heard.current = box.scrollTop;
    shown.seen(box.scrollTop, box.clientHeight, mine ? shown.view.follows : null);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever changed in it, the place is kept
  useLayoutEffect(() => {
    const box = scroller.current;
    if (box === null) return;
    if (hasMoved(box, heard.current)) return scrolled();
    const top = shown.top();
    if (Math.abs(box.scrollTop - top) < 1) return;
    box.scrollTop = top;
    placed.current = heard.current = box.scrollTop;
  }, [view, height]);
  const [from, to] = [Math.floor(shown.top() / ROW), Math.ceil((shown.top() + height) / ROW)];
  return (
    <div className={styles.sheet} data-pretty={pretty || undefined}>
      {/* biome-ignore lint/a11y/useSemanticElements: what scrolls must be reachable by the keys, and has a name */}
      <div
        ref={scroller}
        id={id}
        className={styles.scroller}
        role="region"
        aria-label={name}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by the keys
        tabIndex={0}
        onScroll={scrolled}
        onWheel={({ deltaY, currentTarget: box }) => {
          if (deltaY < 0 && view.follows) shown.seen(box.scrollTop, box.clientHeight, false);
        }}
        onKeyDown={(event) => {
          if (SCROLLS.has(event.key)) event.stopPropagation();
          if (event.key !== "Home" && event.key !== "End") return;
          event.preventDefault();
          void (event.key === "End" ? shown.end() : shown.to(0));
        }}
        onCopy={(event) => {
          const text = scroller.current === null ? null : selected(scroller.current);
          if (text === null) return;
          event.preventDefault();
          event.clipboardData.setData("text/plain", text);
        }}
      >
        <div className={styles.space} style={{ height: view.total * ROW }}>
          <div className={styles.rows} style={{ transform: `translateY(${skipped(shown, from) * ROW}px)` }}>
            <Rows shown={shown} from={from} to={to} words={finder.words} current={finder.current} />
          </div>
        </div>
        <span ref={probe} className={styles.probe} aria-hidden="true">
          {PROBE}
        </span>
      </div>
      <Bar shown={shown} height={height} controls={id} />
      {!view.follows && (
        <Button className={styles.jump} onClick={() => void shown.end()}>
          <Icon name="down" />
          Jump to the end
        </Button>
      )}
    </div>
  );
}

/** A person has scrolled, and the event of it is still to come: what is shorter now also moves, to its end. */
function hasMoved(box: HTMLElement, heard: number): boolean {
  const atEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 1;
  return Math.abs(box.scrollTop - heard) >= 1 && !(box.scrollTop < heard && atEnd);
}

const PROBE = "x".repeat(100);
const INSET = 26; // px beside the text
const SCROLLS = new Set(["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", " "]);

function Nothing({ view, again }: { view: View; again: () => void }) {
  const { failure, ready, ended } = view;
  if (ready && ended) return <Empty title="It printed nothing" />;
  if (ready)
    return <Empty title="It has printed nothing yet">What it prints is shown here as it comes.</Empty>;
  if (failure instanceof Refused && failure.status === 409)
    return <Empty title={failure.message}>{failure.hint}</Empty>;
  if (failure !== null) return <Failure error={failure} again={again} />;
  return <Loading what="Reading the transcript" />;
}

function Broken({ failure, again }: { failure: unknown; again: () => void }) {
  return (
    <div className={styles.broken}>
      <Failure error={failure} again={again} />
    </div>
  );
}
