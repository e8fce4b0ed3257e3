/* Toasts for the results of actions. Errors stay until they are dismissed or what they are about has changed. */

import { useEffect } from "react";
import { Link, useLocation } from "wouter";
import { create } from "zustand";
import { describeError, UnreachableError } from "../api/client";
import { spellOutBidi } from "../model/format";
import { Button } from "./Button";
import { Icon } from "./Icon";
import styles from "./Toasts.module.css";

interface Toast {
  id: number;
  text: string;
  hint: string | null;
  isError: boolean;
  /** A link to more details, or something to do about it. */
  action: { text: string; href: string } | { text: string; run(): void } | null;
  /** What it is about, such as a run: the next toast about it takes its place. */
  subject: string | null;
}

const TOAST_MS = 5000; // ms
const MAX_TOASTS = 4;

const useToasts = create<{ toasts: readonly Toast[]; next: number }>(() => ({ toasts: [], next: 1 }));

export function showToast(
  text: string,
  hint: string | null = null,
  { action = null, subject = null }: Partial<Pick<Toast, "action" | "subject">> = {},
): void {
  const id = addToast({ text, hint, isError: false, action, subject });
  window.setTimeout(() => removeToast(id), TOAST_MS);
}

export const SERVER_SUBJECT = "server"; // of errors that are over when the server responds again

/** `doing`: what failed. */
export function showError(error: unknown, doing?: string, subject: string | null = null): void {
  const { message, hint } = describeError(error);
  addToast({
    text: doing === undefined ? message : `${doing}: ${message}`,
    hint,
    isError: true,
    action: null,
    subject: error instanceof UnreachableError ? SERVER_SUBJECT : subject,
  });
}

/** Removes the errors about what this holds for. */
export function dismissErrors(isOver: (subject: string | null) => boolean): void {
  useToasts.setState(({ toasts }) => {
    const left = toasts.filter(({ isError, subject }) => !isError || !isOver(subject));
    return left.length === toasts.length ? {} : { toasts: left };
  });
}

function addToast(toast: Omit<Toast, "id">): number {
  const { next } = useToasts.getState();
  useToasts.setState(({ toasts }) => {
    const all = [...toasts.filter((each) => !isReplaced(each, toast)), { ...toast, id: next }];
    const oldest = all.length <= MAX_TOASTS ? null : (all.find(({ isError }) => !isError) ?? all[0]);
    return { toasts: all.filter((each) => each !== oldest), next: next + 1 };
  });
  return next;
}

function isReplaced(old: Omit<Toast, "id">, { text, subject }: Omit<Toast, "id">): boolean {
  return old.text === text || (subject !== null && old.subject === subject);
}

function removeToast(id: number): void {
  useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.id !== id) }));
}

export function Toasts() {
  const toasts = useToasts((store) => store.toasts);
  const [path] = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: an error belongs to the view where it happened
  useEffect(() => dismissErrors(() => true), [path]);
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
            <p>{spellOutBidi(toast.text)}</p>
            {toast.hint && <p className={styles.hint}>{spellOutBidi(toast.hint)}</p>}
            {toast.action && "href" in toast.action && (
              <Link href={toast.action.href} onClick={() => removeToast(toast.id)}>
                {toast.action.text}
              </Link>
            )}
          </div>
          {toast.action && "run" in toast.action && <ToastButton id={toast.id} action={toast.action} />}
          <Button kind="quiet" icon label="Dismiss" onClick={() => removeToast(toast.id)}>
            <Icon name="close" />
          </Button>
        </div>
      ))}
    </section>
  );
}

function ToastButton({ id, action }: { id: number; action: { text: string; run(): void } }) {
  return (
    <Button
      onClick={() => {
        removeToast(id);
        action.run();
      }}
    >
      {action.text}
    </Button>
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
