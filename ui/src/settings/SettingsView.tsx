import { type ReactNode, useState } from "react";
import { useSearchParams } from "wouter";
import { useMayNot } from "../app/me";
import { Empty, Failure, Loading } from "../parts/Empty";
import { Icon } from "../parts/Icon";
import { Agents } from "./Agents";
import { COMMON } from "./common";
import { found } from "./found";
import { SettingRow } from "./SettingRow";
import styles from "./SettingsView.module.css";
import { ThisBrowser } from "./ThisBrowser";
import { type Told, useSettings } from "./useSettings";

/** First what people change, then everything. What is looked for stands in the address, so that it can be linked to. */
export default function SettingsView() {
  const { all, tables, error, again } = useSettings();
  const [search, setSearch] = useSearchParams();
  const words = search.get("find") ?? "";
  const look = (find: string) =>
    setSearch(
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
            <p className={styles.soft}>Of this repository, saved at once. A batch can have its own.</p>
          </div>
          <label className={styles.search}>
            <Icon name="search" />
            <span className="unseen">Find a setting</span>
            <input
              type="search"
              placeholder="Find a setting"
              value={words}
              onChange={(event) => look(event.target.value)}
            />
          </label>
        </header>
        <ReadOnly />
        {error !== null && <Failure error={error} again={again} />}
        {error === null && all === null && <Loading what="Reading the settings" />}
        {all !== null &&
          (words === "" ? <Everything all={all} tables={tables} /> : <Found all={all} words={words} />)}
      </div>
    </div>
  );
}

function ReadOnly() {
  const mayNot = useMayNot();
  return mayNot && <p className={styles.notice}>{mayNot}</p>;
}

function Everything({
  all,
  tables,
}: {
  all: ReadonlyMap<string, Told>;
  tables: Readonly<Record<string, string>>;
}) {
  const [first, second, ...rest] = COMMON;
  return (
    <>
      {[first, second].map((each) => each && <CommonSection key={each.title} section={each} all={all} />)}
      <Section title="Agents and models">
        <Agents all={all} />
      </Section>
      {rest.map((each) => (
        <CommonSection key={each.title} section={each} all={all} />
      ))}
      <Section title="This browser only">
        <ThisBrowser />
      </Section>
      <section aria-labelledby="all-settings" className={styles.section}>
        <h2 id="all-settings">All settings</h2>
        {Object.entries(tables).map(([table, about]) => (
          <Table key={table} table={table} about={about} all={all} />
        ))}
      </section>
    </>
  );
}

function CommonSection({
  section,
  all,
}: {
  section: (typeof COMMON)[number];
  all: ReadonlyMap<string, Told>;
}) {
  return (
    <Section title={section.title} about={section.about}>
      {section.settings.map(({ name, title }) => {
        const told = all.get(name);
        return told && <SettingRow key={name} told={told} title={title} />;
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
      {about && <p className={styles.soft}>{about}</p>}
      <div className={styles.card}>{children}</div>
    </section>
  );
}

function Table({ table, about, all }: { table: string; about: string; all: ReadonlyMap<string, Told> }) {
  const [open, setOpen] = useState(false);
  const mine = [...all.values()].filter(({ setting }) => setting.table === table);
  return (
    <details className={styles.table} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <code>[{table}]</code> <span className={styles.soft}>{about}</span>
      </summary>
      {open && (
        <div className={styles.card}>
          {mine.map((told) => (
            <SettingRow key={told.setting.name} told={told} title={<code>{told.setting.key}</code>} />
          ))}
        </div>
      )}
    </details>
  );
}

function Found({ all, words }: { all: ReadonlyMap<string, Told>; words: string }) {
  const matches = found(words, [...all.values()]);
  if (matches.length === 0)
    return (
      <Empty title={`No setting is about “${words}”`}>Names, keys, words and variables are searched.</Empty>
    );
  return (
    <Section title={matches.length === 1 ? "1 setting" : `${matches.length} settings`}>
      {matches.map((told) => (
        <SettingRow key={told.setting.name} told={told} title={<code>{told.setting.key}</code>} />
      ))}
    </Section>
  );
}
