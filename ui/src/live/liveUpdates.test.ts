import { expect, it } from "vitest";
import { refreshDelay } from "./liveUpdates";

it("shows an edited file within seconds, unless reading the sources takes long", () => {
  expect([0, 50, 300, 5_000].map(refreshDelay)).toEqual([2_000, 2_000, 6_000, 15_000]);
});
