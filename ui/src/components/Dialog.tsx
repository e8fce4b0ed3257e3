import { type ReactNode, useId, useLayoutEffect, useRef } from "react";
import { spellOutBidi } from "../model/format";
import { Button } from "./Button";
import { classNames } from "./classNames";
import styles from "./Dialog.module.css";
import { Icon } from "./Icon";

interface Props {
  title: string;
  /** Hides the title, for screen readers only. */
  titleHidden?: boolean;
  onClose(): void;
  children: ReactNode;
  /** Shown in the footer, on the right. */
  actions?: ReactNode;
  size?: "small" | "medium" | "large";
  /** Nothing in it takes the focus, so that the text itself does, to be scrolled with the keyboard. */
  textOnly?: boolean;
}

/**
 * The browser's own modal dialog, open while mounted: it traps the focus, restores it, and Escape closes it.
 * If the element that had the focus is gone, the view gets it.
 */
export function Dialog({
  title,
  titleHidden = false,
  onClose,
  children,
  actions,
  size = "medium",
  textOnly = false,
}: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const pressed = useRef<EventTarget>(null);
  const name = useId();
  useLayoutEffect(() => {
    const element = dialog.current;
    if (element === null || element.open) return;
    const before = document.activeElement;
    element.showModal();
    // What is typed next must not press the button that closes it.
    if (document.activeElement?.closest("header")) element.focus();
    return () => {
      element.close();
      const after = before?.isConnected ? before : document.getElementById("main");
      if (after instanceof HTMLElement) after.focus({ preventScroll: true });
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it, through the cancel event
    <dialog
      ref={dialog}
      className={classNames(styles.dialog, styles[size])}
      aria-labelledby={name}
      tabIndex={-1}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onPointerDown={({ target }) => {
        pressed.current = target;
      }}
      onClick={({ target }) => {
        // Only a click that begins there, too: the end of a selection may be beyond the edge.
        if (target === dialog.current && pressed.current === target) onClose();
      }}
    >
      <div className={styles.content}>
        <header className={titleHidden ? "visually-hidden" : styles.header}>
          <h2 id={name}>{spellOutBidi(title)}</h2>
          {!titleHidden && (
            <Button kind="quiet" icon label="Close" onClick={onClose}>
              <Icon name="close" />
            </Button>
          )}
        </header>
        <div className={styles.body} {...(textOnly && { tabIndex: 0 })}>
          {children}
        </div>
        {actions && <footer className={styles.footer}>{actions}</footer>}
      </div>
    </dialog>
  );
}
