import type { ReactNode } from "react";
import { Button } from "../components/Button";
import { Icon } from "../components/Icon";
import { copyToClipboard } from "../components/Toasts";
import styles from "./AboutTab.module.css";

/** A section of the task panel. */
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

/** Left out if it is empty. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (children === null || children === undefined || children === "" || children === false) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd dir="auto">{children}</dd>
    </>
  );
}

/** A shell command with a copy button. */
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
