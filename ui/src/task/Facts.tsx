import type { ReactNode } from "react";
import { Button } from "../components/Button";
import { Icon } from "../components/Icon";
import { copyToClipboard } from "../components/Toasts";
import styles from "./AboutTab.module.css";

/** A part of the page about the task. */
export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.section}>
      <h3 className={styles.heading}>{title}</h3>
      {children}
    </section>
  );
}

export function Facts({ children }: { children: ReactNode }) {
  return <dl className={styles.facts}>{children}</dl>;
}

/** Left out where there is nothing to tell. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (children === null || children === undefined || children === "" || children === false) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd dir="auto">{children}</dd>
    </>
  );
}

/** Something for the shell: it can be copied. */
export function CopyableText({ text, what, shown = text }: { text: string; what: string; shown?: string }) {
  return (
    <span className={styles.copyable}>
      <code title={text}>{shown}</code>
      <Button
        kind="quiet"
        icon
        label={`Copy ${what}`}
        className={styles.copy}
        onClick={() => void copyToClipboard(text, what)}
      >
        <Icon name="copy" size={14} />
      </Button>
    </span>
  );
}
