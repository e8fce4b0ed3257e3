import { type ReactNode, useId } from "react";
import styles from "./Section.module.css";

/** A headed part of the review. */
export function Section({
  title,
  aside,
  children,
}: {
  title: string;
  aside?: ReactNode;
  children: ReactNode;
}) {
  const name = useId();
  return (
    <section className={styles.section} aria-labelledby={name}>
      <header className={styles.header}>
        <h2 id={name}>{title}</h2>
        {aside && <span className={styles.aside}>{aside}</span>}
      </header>
      {children}
    </section>
  );
}
