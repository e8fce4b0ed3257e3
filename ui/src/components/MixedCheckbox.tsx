import { useEffect, useRef } from "react";

interface Props {
  label: string;
  selected: number;
  total: number;
  className?: string | undefined;
  tabIndex?: number;
  onToggle(): void;
}

/** A checkbox for many: checked when all are chosen, mixed when some are. */
export function MixedCheckbox({ label, selected, total, className, tabIndex, onToggle }: Props) {
  const box = useRef<HTMLInputElement>(null);
  const all = total > 0 && selected >= total;
  const mixed = selected > 0 && !all;
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = mixed;
  }, [mixed]);
  return (
    <input
      ref={box}
      type="checkbox"
      className={className}
      aria-label={label}
      checked={all}
      data-mixed={mixed || undefined}
      tabIndex={tabIndex}
      onChange={onToggle}
      onClick={(event) => event.stopPropagation()}
    />
  );
}
