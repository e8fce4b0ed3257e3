import { type RefObject, useLayoutEffect, useState } from "react";

/** Whether an element has less room than that, in pixels. It is the window's, less what is open beside it. */
export function useNarrowerThan(box: RefObject<HTMLElement | null>, width: number): boolean {
  const [narrower, setNarrower] = useState(false);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = () => setNarrower(element.clientWidth < width);
    measure();
    const watching = new ResizeObserver(measure);
    watching.observe(element);
    return () => watching.disconnect();
  }, [box, width]);
  return narrower;
}
