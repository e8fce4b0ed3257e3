/* What is kept by this browser, and nowhere else. */

import { useState } from "react";
import { type NotificationState, setNotificationsEnabled, useNotificationState } from "../app/notices";
import { setTheme, type Theme, useTheme } from "../app/theme";
import { Button } from "../parts/Button";
import fields from "./fields.module.css";
import row from "./SettingRow.module.css";

const THEMES: readonly (readonly [Theme, string])[] = [
  ["system", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
];

export function BrowserSettings() {
  const theme = useTheme((store) => store.theme);
  return (
    <>
      <div className={row.row}>
        <div className={row.words}>
          <h3 id="theme">Theme</h3>
        </div>
        <div role="radiogroup" aria-labelledby="theme" className={fields.radios}>
          {THEMES.map(([each, name]) => (
            <label key={each} className={fields.option}>
              <input type="radio" name="theme" checked={theme === each} onChange={() => setTheme(each)} />
              {name}
            </label>
          ))}
        </div>
      </div>
      <DesktopNotifications />
    </>
  );
}

const NOTIFICATION_TEXT: Record<NotificationState, string> = {
  on: "On: this browser tells you when a task needs you or fails, and when a batch is over, while you look elsewhere.",
  off: "Off. When a task needs you or fails, and when a batch is over, this browser can tell you while you look elsewhere.",
  refused: "This browser was told to refuse them. Its own settings for this page can allow them again.",
  unable: "This browser has none here: they need https, or the server on this machine.",
};

function DesktopNotifications() {
  const state = useNotificationState((store) => store.state);
  const [busy, setBusy] = useState(false);
  const setEnabled = async (on: boolean) => {
    setBusy(true);
    await setNotificationsEnabled(on).finally(() => setBusy(false));
  };
  const unavailable = state === "refused" || state === "unable" ? NOTIFICATION_TEXT[state] : null;
  return (
    <div className={row.row}>
      <div className={row.words}>
        <h3>Desktop notifications</h3>
        <p className={row.about} role="status">
          {NOTIFICATION_TEXT[state]}
        </p>
      </div>
      <div>
        <Button disabled={unavailable} busy={busy} onClick={() => void setEnabled(state !== "on")}>
          {state === "on" ? "Turn off" : "Turn on"}
        </Button>
      </div>
    </div>
  );
}
