import { useEffect, useState } from "react";
import { type Layout, layoutGraph, type Shape } from "./layout";

/** `null` until it is known; after that, the latest that is. */
export function useGraphLayout(shape: Shape): Layout | null {
  const [layout, setLayout] = useState<Layout | null>(null);
  useEffect(() => {
    const worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<Layout>) => setLayout(data);
    worker.onerror = (event) => {
      event.preventDefault();
      setLayout(layoutGraph(shape)); // a browser that refuses workers waits a little
    };
    worker.postMessage(shape);
    return () => worker.terminate();
  }, [shape]);
  return layout;
}
