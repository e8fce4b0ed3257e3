/* Computes the layout off the main thread. */

import { layoutGraph, type Shape } from "./layout";

addEventListener("message", ({ data }: MessageEvent<Shape>) => postMessage(layoutGraph(data)));
