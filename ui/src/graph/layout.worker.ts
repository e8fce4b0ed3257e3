/* Computes the layout off the main thread. */

import type { Shape } from "./geometry";
import { layoutGraph } from "./layout";

addEventListener("message", ({ data }: MessageEvent<Shape>) => postMessage(layoutGraph(data)));
