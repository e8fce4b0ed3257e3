/* Desktop notifications of this browser, for those who asked for them. */

import { useEffect } from "react";
import { useLocation } from "wouter";
import { create } from "zustand";
import { type News, news } from "../model/news";
import { useBoard } from "../store/board";
import { recall, remember } from "../store/browser";
import { to, within } from "./address";

const KEY = "plait.notices";
const HELD = 120_000; // ms: windows that nobody sees come to know of it later
const MOST = 5; // at once: of more, a person looks at the page

/** `unable`: this browser has none here. `refused`: the person has said no to the browser, and only there can say yes. */
export type Notices = "on" | "off" | "refused" | "unable";

function standing(): Notices {
  if (!("Notification" in window) || !window.isSecureContext) return "unable";
  if (Notification.permission === "denied") return "refused";
  const wanted = recall(KEY) === "on";
  return wanted && Notification.permission === "granted" ? "on" : "off";
}

export const useNoticesStanding = create<{ notices: Notices }>(() => ({ notices: standing() }));

/** The browser asks the person, and only now: because they have asked for it. */
export async function turnNotices(on: boolean): Promise<void> {
  remember(KEY, on ? "on" : "off");
  if (on && standing() === "off") await Notification.requestPermission();
  useNoticesStanding.setState({ notices: standing() });
}

/** Tells what happens from now on; what was there when the board came is known. */
export function useNotices(): void {
  const on = useNoticesStanding((store) => store.notices === "on");
  const [, navigate] = useLocation();
  useEffect(() => {
    if (!on) return;
    return useBoard.subscribe((now, before) => {
      if (!before.loaded || !now.loaded) return;
      for (const each of news(before.board, now.board).slice(0, MOST)) void tell(each, navigate);
    });
  }, [on, navigate]);
}

/** Once in this browser, however many windows it has: the one that comes first holds it. Who looks at the page has seen it. */
async function tell(each: News, navigate: (path: string) => void): Promise<void> {
  await navigator.locks.request(each.tag, { ifAvailable: true }, async (lock) => {
    if (lock === null) return;
    if (document.visibilityState === "hidden" || !document.hasFocus()) show(each, navigate);
    await new Promise((done) => window.setTimeout(done, HELD));
  });
}

function show({ tag, title, text, task, batch }: News, navigate: (path: string) => void): void {
  const shown = new Notification(title, { tag, body: text, icon: "/favicon.svg" });
  shown.onclick = () => {
    window.focus();
    navigate(task === null ? to.review(batch) : within("/", { task, batch }));
    shown.close();
  };
}
