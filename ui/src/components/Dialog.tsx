import { type ReactNode, useEffect, useId, useRef } from "react";
import { Button } from "./Button";
import { classNames } from "./classNames";
import styles from "./Dialog.module.css";
import { Icon } from "./Icon";

interface Props {
  title: string;
  /** Not seen: what it is about is clear without. */
  titleHidden?: boolean;
  onClose(): void;
  children: ReactNode;
  /** At its foot, to the right. */
  actions?: ReactNode;
  size?: "small" | "medium" | "large";
}

/** The browser's own modal dialog: it keeps the focus, gives it back, and Escape closes it. There as long as it is drawn.
    What had the focus before may be gone by then: it goes to the view. */
export function Dialog({ title, titleHidden = false, onClose, children, actions, size = "medium" }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const name = useId();
  useEffect(() => {
    const element = dialog.current;
    if (element === null || element.open) return;
    const before = document.activeElement;
    element.showModal();
    return () => {
      element.close();
      const after = before?.isConnected ? before : document.getElementById("main");
      if (after instanceof HTMLElement) after.focus({ preventScroll: true });
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it, and says so by cancel
    <dialog
      ref={dialog}
      className={classNames(styles.dialog, styles[size])}
      aria-labelledby={name}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div className={styles.content}>
        <header className={titleHidden ? "visually-hidden" : styles.header}>
          <h2 id={name}>{title}</h2>
          {!titleHidden && (
            <Button kind="quiet" icon label="Close" onClick={onClose}>
              <Icon name="close" />
            </Button>
          )}
        </header>
        <div className={styles.body}>{children}</div>
        {actions && <footer className={styles.footer}>{actions}</footer>}
      </div>
    </dialog>
  );
}
