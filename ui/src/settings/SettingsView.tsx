import { type ReactNode, useState } from "react";
import { useSearchParams } from "wouter";
import { useReadOnlyReason } from "../app/access";
import {
  type NotificationState,
  setNotificationsEnabled,
  useNotificationState,
} from "../app/desktopNotifications";
import { setTheme, type Theme, useTheme } from "../app/theme";
import { Button } from "../components/Button";
import { EmptyState, ErrorState, LoadingState } from "../components/EmptyState";
import { SearchField } from "../components/SearchField";
import { AgentSettings } from "./AgentSettings";
import { COMMON_SECTIONS, findSettings } from "./commonSettings";
import fields from "./SettingField.module.css";
import { SettingRow } from "./SettingRow";
import row from "./SettingRow.module.css";
import styles from "./SettingsView.module.css";
import { type SettingEntry, useSettings } from "./useSettings";

/** Common settings first, then all. The search is in the URL, so that it can be linked to. */
export default function SettingsView() {
  const { all, tables, error, retry } = useSettings();
  const [params, setParams] = useSearchParams();
  const query = params.get("find") ?? "";
  const search = (find: string) =>
    setParams(
      (now) => {
        const next = new URLSearchParams(now);
        if (find === "") next.delete("find");
        else next.set("find", find);
        return next;
      },
      { replace: true },
    );
  return (
    <div className={styles.view}>
      <div className={styles.page}>
        <header className={styles.header}>
          <div>
            <h1>Settings</h1>
            <p className={styles.muted}>
              For this repository. Changes are saved immediately; a batch can override them.
            </p>
          </div>
          <SearchField
            className={styles.search}
            label="Find a setting"
            placeholder="Find a setting"
            value={query}
            onSearch={search}
          />
        </header>
        <ReadOnlyNotice />
        {error !== null && <ErrorState error={error} onRetry={retry} />}
        {error === null && all === null && <LoadingState what="Loading settings" />}
        {all !== null &&
          (query === "" ? (
            <AllSections all={all} tables={tables} />
          ) : (
            <SearchResults all={all} query={query} />
          ))}
      </div>
    </div>
  );
}

function ReadOnlyNotice() {
  const readOnlyReason = useReadOnlyReason();
  return readOnlyReason && <p className={styles.notice}>{readOnlyReason}</p>;
}

function AllSections({
  all,
  tables,
}: {
  all: ReadonlyMap<string, SettingEntry>;
  tables: Readonly<Record<string, string>>;
}) {
  const [first, second, ...rest] = COMMON_SECTIONS;
  return (
    <>
      {[first, second].map((each) => each && <CommonSection key={each.title} section={each} all={all} />)}
      <Section title="Agents and models">
        <AgentSettings all={all} />
      </Section>
      {rest.map((each) => (
        <CommonSection key={each.title} section={each} all={all} />
      ))}
      <Section title="This browser only">
        <BrowserSettings />
      </Section>
      <section aria-labelledby="all-settings" className={styles.section}>
        <h2 id="all-settings">All settings</h2>
        {Object.entries(tables).map(([table, about]) => (
          <SettingsTable key={table} table={table} about={about} all={all} />
        ))}
      </section>
    </>
  );
}

function CommonSection({
  section,
  all,
}: {
  section: (typeof COMMON_SECTIONS)[number];
  all: ReadonlyMap<string, SettingEntry>;
}) {
  return (
    <Section title={section.title} about={section.about}>
      {section.settings.map((name) => {
        const entry = all.get(name);
        return entry && <SettingRow key={name} entry={entry} />;
      })}
    </Section>
  );
}

function Section({
  title,
  about,
  children,
}: {
  title: string;
  about?: string | undefined;
  children: ReactNode;
}) {
  return (
    <section className={styles.section} aria-label={title}>
      <h2>{title}</h2>
      {about && <p className={styles.muted}>{about}</p>}
      <div className={styles.card}>{children}</div>
    </section>
  );
}

function SettingsTable({
  table,
  about,
  all,
}: {
  table: string;
  about: string;
  all: ReadonlyMap<string, SettingEntry>;
}) {
  const [open, setOpen] = useState(false);
  const entries = [...all.values()].filter(({ setting }) => setting.table === table);
  return (
    <details className={styles.table} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <code>[{table}]</code> <span className={styles.muted}>{about}</span>
      </summary>
      {open && (
        <div className={styles.card}>
          {entries.map((entry) => (
            <SettingRow key={entry.setting.name} entry={entry} />
          ))}
        </div>
      )}
    </details>
  );
}

function SearchResults({ all, query }: { all: ReadonlyMap<string, SettingEntry>; query: string }) {
  const matches = findSettings(query, [...all.values()]);
  if (matches.length === 0)
    return (
      <EmptyState title={`No settings match “${query}”`}>
        Searches names, keys, flags, environment variables and descriptions.
      </EmptyState>
    );
  return (
    <Section title={matches.length === 1 ? "1 setting" : `${matches.length} settings`}>
      {matches.map((entry) => (
        <SettingRow key={entry.setting.name} entry={entry} />
      ))}
    </Section>
  );
}

const THEMES: readonly (readonly [Theme, string])[] = [
  ["system", "System"],
  ["light", "Light"],
  ["dark", "Dark"],
];

function BrowserSettings() {
  const theme = useTheme((store) => store.theme);
  return (
    <>
      <div className={row.row}>
        <div className={row.description}>
          <h3 id="theme">Theme</h3>
        </div>
        <div role="radiogroup" aria-labelledby="theme" className={fields.radios}>
          {THEMES.map(([each, name]) => (
            <label key={each} className={fields.option}>
              <input type="radio" name="theme" checked={theme === each} onChange={() => setTheme(each)} />
              {name}
            </label>
          ))}
        </div>
      </div>
      <DesktopNotifications />
    </>
  );
}

const NOTIFICATION_TEXT: Record<NotificationState, string> = {
  on: "On. You are notified when a task needs you or fails, and when a batch ends, while this page is in the background.",
  off: "Off. Turn them on to be notified when a task needs you or fails, and when a batch ends, while this page is in the background.",
  refused: "Blocked by this browser. Allow them in the browser's settings for this page.",
  unable: "Not available here: they need https, or a server on this machine.",
};

function DesktopNotifications() {
  const state = useNotificationState((store) => store.state);
  const [busy, setBusy] = useState(false);
  const setEnabled = async (on: boolean) => {
    setBusy(true);
    await setNotificationsEnabled(on).finally(() => setBusy(false));
  };
  const unavailable = state === "refused" || state === "unable" ? NOTIFICATION_TEXT[state] : null;
  return (
    <div className={row.row}>
      <div className={row.description}>
        <h3>Desktop notifications</h3>
        <p className={row.about} role="status">
          {NOTIFICATION_TEXT[state]}
        </p>
      </div>
      <div>
        <Button disabled={unavailable} busy={busy} onClick={() => void setEnabled(state !== "on")}>
          {state === "on" ? "Turn off" : "Turn on"}
        </Button>
      </div>
    </div>
  );
}
