import { type ReactNode, useEffect, useId, useRef } from "react";
import { Button } from "./Button";
import { classes } from "./classes";
import styles from "./Dialog.module.css";
import { Icon } from "./Icon";

interface Props {
  title: string;
  /** Not seen: what it is about is clear without. */
  titleUnseen?: boolean;
  onClose(): void;
  children: ReactNode;
  /** At its foot, to the right. */
  actions?: ReactNode;
  size?: "small" | "medium" | "large";
}

/** The browser's own modal dialog: it keeps the focus, gives it back, and Escape closes it. There as long as it is drawn.
    What had the focus before may be gone by then: it goes to the view. */
export function Dialog({ title, titleUnseen = false, onClose, children, actions, size = "medium" }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const name = useId();
  useEffect(() => {
    const shown = dialog.current;
    if (shown === null || shown.open) return;
    const before = document.activeElement;
    shown.showModal();
    return () => {
      shown.close();
      const after = before?.isConnected ? before : document.getElementById("main");
      if (after instanceof HTMLElement) after.focus({ preventScroll: true });
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it, and says so by cancel
    <dialog
      ref={dialog}
      className={classes(styles.dialog, styles[size])}
      aria-labelledby={name}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div className={styles.inside}>
        <header className={titleUnseen ? "unseen" : styles.header}>
          <h2 id={name}>{title}</h2>
          {!titleUnseen && (
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
