/* Opt-in desktop notifications of this browser. */

import { useEffect } from "react";
import { useLocation } from "wouter";
import { create } from "zustand";
import { type BoardNotification, findNotifications } from "../model/notifications";
import { useBoard } from "../store/board";
import { loadItem, saveItem } from "../store/browserStorage";
import { projectUrl, routes } from "./routes";

const KEY = "plait.notices";
const DEDUPE_MS = 120_000; // ms: windows that nobody sees come to know of it later
const MAX_AT_ONCE = 5; // at once: of more, a person looks at the page

/** `unable`: this browser has none here. `refused`: the person has said no to the browser, and only there can say yes. */
export type NotificationState = "on" | "off" | "refused" | "unable";

function readState(): NotificationState {
  if (!("Notification" in window) || !window.isSecureContext) return "unable";
  if (Notification.permission === "denied") return "refused";
  const wanted = loadItem(KEY) === "on";
  return wanted && Notification.permission === "granted" ? "on" : "off";
}

export const useNotificationState = create<{ state: NotificationState }>(() => ({ state: readState() }));

/** The browser asks the person, and only now: because they have asked for it. */
export async function setNotificationsEnabled(on: boolean): Promise<void> {
  saveItem(KEY, on ? "on" : "off");
  if (on && readState() === "off") await Notification.requestPermission();
  useNotificationState.setState({ state: readState() });
}

/** Tells what happens from now on; what was there when the board came is known. */
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

/** Once in this browser, however many windows it has: the one that comes first holds it. Who looks at the page has seen it. */
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
