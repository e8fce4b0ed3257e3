import { type KeyboardEvent, type ReactNode, useRef } from "react";
import type { Tab } from "../app/address";
import styles from "./TaskPanel.module.css";

const TAB_LABELS: Record<Tab, string> = { about: "About", log: "Log", diff: "Diff", checks: "Checks" };
const TABS = Object.keys(TAB_LABELS) as Tab[];

interface TabsProps {
  tab: Tab;
  onSelect(tab: Tab): void;
  children: ReactNode;
}

/** Tabs as the WAI-ARIA has them: one of them can be reached, and the arrows go to the others. */
export function Tabs({ tab, onSelect, children }: TabsProps) {
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const current = TABS.indexOf(tab);
    const target = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: TABS.length - 1 }[
      event.key
    ];
    const next = target === undefined ? undefined : TABS[(target + TABS.length) % TABS.length];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    onSelect(next);
    list.current?.querySelector<HTMLElement>(`[data-tab=${next}]`)?.focus();
  };
  return (
    <>
      <div
        ref={list}
        role="tablist"
        aria-label="About this task"
        className={styles.tabs}
        onKeyDown={onKeyDown}
        tabIndex={-1}
      >
        {TABS.map((each) => (
          <button
            key={each}
            type="button"
            role="tab"
            id={`tab-${each}`}
            data-tab={each}
            className={styles.tab}
            aria-selected={each === tab}
            aria-controls={each === tab ? `panel-${each}` : undefined}
            tabIndex={each === tab ? 0 : -1}
            onClick={() => onSelect(each)}
          >
            {TAB_LABELS[each]}
          </button>
        ))}
      </div>
      <div
        role="tabpanel"
        id={`panel-${tab}`}
        aria-labelledby={`tab-${tab}`}
        className={styles.body}
        data-tab={tab}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it may hold nothing that can be focused, and scrolls
        tabIndex={0}
      >
        {children}
      </div>
    </>
  );
}
