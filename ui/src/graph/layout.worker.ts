/* Lays a graph out beside the page, which goes on answering meanwhile. */

import { layoutGraph, type Shape } from "./layout";

addEventListener("message", ({ data }: MessageEvent<Shape>) => postMessage(layoutGraph(data)));
