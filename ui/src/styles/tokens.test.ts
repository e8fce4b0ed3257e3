/* One grid, one border, one scale of radii, one select, one search field: what a stylesheet may write is in tokens.css. */

import { describe, expect, it } from "vitest";

const styles = import.meta.glob<string>("../**/*.css", { query: "?raw", import: "default", eager: true });
const components = import.meta.glob<string>("../**/*.tsx", { query: "?raw", import: "default", eager: true });

const SPACING = /^(?:(?:row-|column-)?gap|padding|margin)/;
const BORDER = /^border/;

/** Declarations with lengths of their own where a token belongs, as `file: declaration`. */
function ownLengths(files: Record<string, string>): string[] {
  return Object.entries(files).flatMap(([file, text]) =>
    [...text.replace(/\/\*.*?\*\//gs, "").matchAll(/([\w-]+):\s*([^;{}]+);/g)]
      .filter(([, name = "", value = ""]) => {
        const lengths = value.match(/\b[1-9][\d.]*px\b/g) ?? [];
        return lengths.length > 0 && (SPACING.test(name) || BORDER.test(name));
      })
      .map(([declaration]) => `${file}: ${declaration}`),
  );
}

describe("the styles", () => {
  it("take spaces, borders and radii from the tokens", () => {
    const { "./tokens.css": tokens, "./base.css": base, ...modules } = styles;
    expect([tokens, base].every(Boolean)).toBe(true);
    expect(ownLengths(modules)).toEqual([]);
    expect(
      ownLengths({ "x.css": "a { gap: 6px; border: 3px solid; width: 7px; margin: 0 -1px; }" }),
    ).toHaveLength(3);
  });

  it("have one kind of select", () => {
    const withSelect = Object.keys(components).filter((file) => components[file]?.includes("<select"));
    expect(withSelect).toEqual(["../components/Select.tsx"]);
  });

  it("have one kind of search field", () => {
    const withSearch = Object.keys(components).filter((file) => components[file]?.includes('type="search"'));
    expect(withSearch).toEqual(["../components/SearchField.tsx"]);
  });
});
