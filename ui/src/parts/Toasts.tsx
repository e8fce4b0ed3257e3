/* What became of something that was asked for. Said once, in words, and gone after a while unless it went wrong. */

import { Link } from "wouter";
import { create } from "zustand";
import { inWords } from "../api/client";
import { Button } from "./Button";
import { Icon } from "./Icon";
import styles from "./Toasts.module.css";

interface Toast {
  id: number;
  text: string;
  hint: string | null;
  bad: boolean;
  /** Where one can see more of it. */
  link: { href: string; text: string } | null;
}

const STAYS = 5000; // ms
const MOST = 4;

const useToasts = create<{ toasts: readonly Toast[]; next: number }>(() => ({ toasts: [], next: 1 }));

export function say(text: string, hint: string | null = null, link: Toast["link"] = null): void {
  const id = add({ text, hint, bad: false, link });
  window.setTimeout(() => drop(id), STAYS);
}

/** What went wrong stays until it is closed. */
export function sayError(error: unknown, what?: string): void {
  const { message, hint } = inWords(error);
  add({ text: what === undefined ? message : `${what}: ${message}`, hint, bad: true, link: null });
}

function add(toast: Omit<Toast, "id">): number {
  const { next } = useToasts.getState();
  useToasts.setState(({ toasts }) => ({
    toasts: [...toasts.filter((each) => each.text !== toast.text), { ...toast, id: next }].slice(-MOST),
    next: next + 1,
  }));
  return next;
}

function drop(id: number): void {
  useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.id !== id) }));
}

export function Toasts() {
  const toasts = useToasts((store) => store.toasts);
  return (
    <section className={styles.toasts} aria-label="Messages" aria-live="polite">
      {toasts.map((toast) => (
        <div
          key={toast.id}
          className={styles.toast}
          data-bad={toast.bad || undefined}
          role={toast.bad ? "alert" : undefined}
        >
          {toast.bad && <Icon name="warning" />}
          <div className={styles.words}>
            <p>{toast.text}</p>
            {toast.hint && <p className={styles.hint}>{toast.hint}</p>}
            {toast.link && (
              <Link href={toast.link.href} onClick={() => drop(toast.id)}>
                {toast.link.text}
              </Link>
            )}
          </div>
          <Button kind="quiet" icon label="Dismiss" onClick={() => drop(toast.id)}>
            <Icon name="close" />
          </Button>
        </div>
      ))}
    </section>
  );
}
