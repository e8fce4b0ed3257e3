/* Opt-in desktop notifications of this browser. */

import { useEffect } from "react";
import { useLocation } from "wouter";
import { create } from "zustand";
import { type BoardNotification, findNotifications } from "../model/notifications";
import { useBoard } from "../store/board";
import { loadItem, saveItem } from "../store/browserStorage";
import { projectUrl, routes } from "./routes";

const KEY = "plait.notices";
const DEDUPE_MS = 120_000; // ms: hidden windows get events later
const MAX_AT_ONCE = 5; // at once; for more, the page is the better place

/** `unable`: this browser has none here. `refused`: blocked in the browser's own settings. */
export type NotificationState = "on" | "off" | "refused" | "unable";

function readState(): NotificationState {
  if (!("Notification" in window) || !window.isSecureContext) return "unable";
  if (Notification.permission === "denied") return "refused";
  const wanted = loadItem(KEY) === "on";
  return wanted && Notification.permission === "granted" ? "on" : "off";
}

export const useNotificationState = create<{ state: NotificationState }>(() => ({ state: readState() }));

/** Asks for permission; call it only in response to a click. */
export async function setNotificationsEnabled(on: boolean): Promise<void> {
  saveItem(KEY, on ? "on" : "off");
  if (on && readState() === "off") await Notification.requestPermission();
  useNotificationState.setState({ state: readState() });
}

/** Notifies about changes from now on, not about what the board had when it was loaded. */
export function useDesktopNotifications(): void {
  const on = useNotificationState((store) => store.state === "on");
  const [, navigate] = useLocation();
  useEffect(() => {
    if (!on) return;
    return useBoard.subscribe((now, before) => {
      if (!before.loaded || !now.loaded) return;
      for (const notification of findNotifications(before.board, now.board).slice(0, MAX_AT_ONCE))
        void notifyOnce(notification, navigate);
    });
  }, [on, navigate]);
}

/** Shows each notification once per browser: the first window takes it. A visible page needs none. */
async function notifyOnce(notification: BoardNotification, navigate: (path: string) => void): Promise<void> {
  await navigator.locks.request(notification.tag, { ifAvailable: true }, async (lock) => {
    if (lock === null) return;
    if (document.visibilityState === "hidden" || !document.hasFocus())
      showNotification(notification, navigate);
    await new Promise((done) => window.setTimeout(done, DEDUPE_MS));
  });
}

function showNotification(
  { tag, title, text, task, batch }: BoardNotification,
  navigate: (path: string) => void,
): void {
  const popup = new Notification(title, { tag, body: text, icon: "/favicon.svg" });
  popup.onclick = () => {
    window.focus();
    navigate(task === null ? routes.review(batch) : projectUrl("/", { task, batch }));
    popup.close();
  };
}
