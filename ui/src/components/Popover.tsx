import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Button, type ButtonProps } from "./Button";
import styles from "./Popover.module.css";

interface Props extends Pick<ButtonProps, "kind" | "icon" | "disabled" | "className"> {
  /** The accessible name of the popover. */
  name: string;
  /** The button's content; an icon gets its accessible name from `name`. */
  button: ReactNode;
  /** The content, which may close the popover. */
  children(close: () => void): ReactNode;
  side?: "up" | "down";
  align?: "start" | "end";
}

/** A button with a popover. Escape, a click outside, and leaving it with the keyboard close it. */
export function Popover({ name, button, children, side = "down", align = "start", ...rest }: Props) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    if (!open) return;
    const closeOutside = (event: PointerEvent) => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener("pointerdown", closeOutside);
    return () => document.removeEventListener("pointerdown", closeOutside);
  }, [open]);
  const close = () => {
    setOpen(false);
    box.current?.querySelector("button")?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it handles keys of the buttons and fields in it
    <div
      ref={box}
      className={styles.box}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !open) return;
        event.preventDefault();
        close();
      }}
      onBlur={(event) => {
        if (event.relatedTarget !== null && !event.currentTarget.contains(event.relatedTarget))
          setOpen(false);
      }}
    >
      <Button
        {...rest}
        {...(rest.icon ? { label: name } : {})}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {button}
      </Button>
      {open && (
        <section id={id} className={styles.open} data-side={side} data-align={align} aria-label={name}>
          {children(close)}
        </section>
      )}
    </div>
  );
}
