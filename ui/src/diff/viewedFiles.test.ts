import { describe, expect, it } from "vitest";
import { viewedKey } from "./viewedFiles";

describe("a viewed mark", () => {
  const file = { path: "a.py", before: null, blobs: "1111111..2222222" };

  it("belongs to a file as it was before and after", () => {
    expect(viewedKey({ ...file })).toBe(viewedKey(file));
    for (const other of ["1111111..3333333", "3333333..2222222"])
      expect(viewedKey({ ...file, blobs: other })).not.toBe(viewedKey(file));
    expect(viewedKey({ ...file, path: "b.py" })).not.toBe(viewedKey(file));
  });

  it("belongs to both names of a file that was only renamed", () => {
    const renamed = { path: "b.py", before: "a.py", blobs: null };
    expect(viewedKey({ ...renamed, before: "c.py" })).not.toBe(viewedKey(renamed));
  });
});
