/* Toasts for the results of actions. Errors stay until they are dismissed. */

import { Link } from "wouter";
import { create } from "zustand";
import { describeError } from "../api/client";
import { Button } from "./Button";
import { Icon } from "./Icon";
import styles from "./Toasts.module.css";

interface Toast {
  id: number;
  text: string;
  hint: string | null;
  isError: boolean;
  /** A link to more details. */
  link: { href: string; text: string } | null;
}

const TOAST_MS = 5000; // ms
const MAX_TOASTS = 4;

const useToasts = create<{ toasts: readonly Toast[]; next: number }>(() => ({ toasts: [], next: 1 }));

export function showToast(text: string, hint: string | null = null, link: Toast["link"] = null): void {
  const id = addToast({ text, hint, isError: false, link });
  window.setTimeout(() => removeToast(id), TOAST_MS);
}

/** Errors stay until they are closed. */
export function showError(error: unknown, action?: string): void {
  const { message, hint } = describeError(error);
  addToast({
    text: action === undefined ? message : `${action}: ${message}`,
    hint,
    isError: true,
    link: null,
  });
}

function addToast(toast: Omit<Toast, "id">): number {
  const { next } = useToasts.getState();
  useToasts.setState(({ toasts }) => ({
    toasts: [...toasts.filter((each) => each.text !== toast.text), { ...toast, id: next }].slice(-MAX_TOASTS),
    next: next + 1,
  }));
  return next;
}

function removeToast(id: number): void {
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
          data-bad={toast.isError || undefined}
          role={toast.isError ? "alert" : undefined}
        >
          {toast.isError && <Icon name="warning" />}
          <div className={styles.message}>
            <p>{toast.text}</p>
            {toast.hint && <p className={styles.hint}>{toast.hint}</p>}
            {toast.link && (
              <Link href={toast.link.href} onClick={() => removeToast(toast.id)}>
                {toast.link.text}
              </Link>
            )}
          </div>
          <Button kind="quiet" icon label="Dismiss" onClick={() => removeToast(toast.id)}>
            <Icon name="close" />
          </Button>
        </div>
      ))}
    </section>
  );
}

/** Shows a toast when done, or an error. */
export async function copyToClipboard(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showToast(`Copied ${what}`);
  } catch {
    showError(new Error("The browser blocked copying: select the text and copy it yourself."));
  }
}
