/* Syntax highlighting: a grammar is loaded when a file of its language is shown, and lines are highlighted in blocks when one
   of them is. The result is ranges of lines, never markup. */

import type { LanguageFn } from "highlight.js";
import { createLowlight } from "lowlight";
import { useEffect, useMemo, useState } from "react";
import type { FileChange, Line } from "./parseDiff";

/** A part of a line, as a grammar reads it. */
export type Syntax = "keyword" | "string" | "comment" | "number" | "title" | "type" | "name";

export interface SyntaxRange {
  readonly start: number;
  readonly end: number;
  readonly syntax: Syntax;
}

type LoadGrammar = () => Promise<{ default: LanguageFn }>;

const GRAMMARS: Readonly<Record<string, LoadGrammar>> = {
  bash: () => import("highlight.js/lib/languages/bash"),
  c: () => import("highlight.js/lib/languages/c"),
  cpp: () => import("highlight.js/lib/languages/cpp"),
  csharp: () => import("highlight.js/lib/languages/csharp"),
  css: () => import("highlight.js/lib/languages/css"),
  dockerfile: () => import("highlight.js/lib/languages/dockerfile"),
  elixir: () => import("highlight.js/lib/languages/elixir"),
  go: () => import("highlight.js/lib/languages/go"),
  ini: () => import("highlight.js/lib/languages/ini"),
  java: () => import("highlight.js/lib/languages/java"),
  javascript: () => import("highlight.js/lib/languages/javascript"),
  json: () => import("highlight.js/lib/languages/json"),
  kotlin: () => import("highlight.js/lib/languages/kotlin"),
  lua: () => import("highlight.js/lib/languages/lua"),
  makefile: () => import("highlight.js/lib/languages/makefile"),
  markdown: () => import("highlight.js/lib/languages/markdown"),
  php: () => import("highlight.js/lib/languages/php"),
  python: () => import("highlight.js/lib/languages/python"),
  ruby: () => import("highlight.js/lib/languages/ruby"),
  rust: () => import("highlight.js/lib/languages/rust"),
  scala: () => import("highlight.js/lib/languages/scala"),
  scss: () => import("highlight.js/lib/languages/scss"),
  sql: () => import("highlight.js/lib/languages/sql"),
  swift: () => import("highlight.js/lib/languages/swift"),
  typescript: () => import("highlight.js/lib/languages/typescript"),
  xml: () => import("highlight.js/lib/languages/xml"),
  yaml: () => import("highlight.js/lib/languages/yaml"),
};

/** Languages by the end of a file's name. */
const LANGUAGES = new Map(
  Object.entries({
    bash: "sh bash zsh",
    c: "c h",
    cpp: "cc cpp cxx hh hpp hxx",
    csharp: "cs",
    css: "css",
    dockerfile: "dockerfile containerfile",
    elixir: "ex exs",
    go: "go",
    ini: "ini toml cfg conf properties",
    java: "java",
    javascript: "js jsx mjs cjs",
    json: "json jsonc",
    kotlin: "kt kts",
    lua: "lua",
    makefile: "mk makefile",
    markdown: "md markdown",
    php: "php",
    python: "py pyi",
    ruby: "rb gemfile rakefile",
    rust: "rs",
    scala: "scala",
    scss: "scss",
    sql: "sql",
    swift: "swift",
    typescript: "ts tsx mts cts",
    xml: "html htm xml svg vue xhtml",
    yaml: "yaml yml",
  }).flatMap(([language, ends]) => ends.split(" ").map((end) => [end, language] as const)),
);

/** The language of a file, by its name. */
export function languageOf(path: string): string | null {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return LANGUAGES.get(name.slice(name.lastIndexOf(".") + 1)) ?? null;
}

/** What a grammar says of a text, as a tree. */
interface SyntaxNode {
  readonly type: string;
  readonly value?: string;
  readonly properties?: { readonly className?: unknown };
  readonly children?: readonly SyntaxNode[];
}

const MAX_LANGUAGES = 8; // of one diff

/** Returns the ranges of a line; a new function after another grammar is loaded. */
export function useHighlighting(
  files: readonly FileChange[],
): (file: FileChange, line: Line) => readonly SyntaxRange[] {
  const [loaded, setLoaded] = useState<readonly string[]>([]);
  useEffect(() => {
    const languages = [...new Set(files.flatMap(({ path }) => languageOf(path) ?? []))].slice(
      0,
      MAX_LANGUAGES,
    );
    if (languages.length === 0) return;
    let current = true;
    void Promise.allSettled(languages.map(loadGrammar)).then(() => {
      if (current) setLoaded(languages); // without one that failed, its files are readable without colours
    });
    return () => {
      current = false;
    };
  }, [files]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: with another grammar, lines are highlighted again
  return useMemo(() => {
    const blocks = new WeakMap<FileChange, ReadonlyMap<Line, Block>>();
    return (file, line) => findRanges(blocks, file, line);
  }, [loaded]);
}

const lowlight = createLowlight();

/** Of a known language. */
export async function loadGrammar(language: string): Promise<void> {
  const load = GRAMMARS[language];
  if (load !== undefined && !lowlight.registered(language))
    lowlight.register(language, (await load()).default);
}

const BLOCK_LINES = 200; // lines that are highlighted together
const MAX_BLOCK_LENGTH = 40_000; // characters: longer ones would take too long
const NO_RANGES: readonly SyntaxRange[] = [];

/** Lines of one side of a hunk; `ranges` as soon as one of them was shown. */
interface Block {
  readonly lines: readonly Line[];
  ranges: ReadonlyMap<Line, readonly SyntaxRange[]> | null;
}

function findRanges(
  known: WeakMap<FileChange, ReadonlyMap<Line, Block>>,
  file: FileChange,
  line: Line,
): readonly SyntaxRange[] {
  const language = languageOf(file.path);
  if (language === null) return NO_RANGES;
  const blocks = known.get(file) ?? splitBlocks(file);
  known.set(file, blocks);
  const block = blocks.get(line);
  if (block === undefined) return NO_RANGES;
  block.ranges ??= highlightLines(language, block.lines);
  return block.ranges.get(line) ?? NO_RANGES;
}

/** Unchanged lines are highlighted with the new ones. */
function splitBlocks(file: FileChange): ReadonlyMap<Line, Block> {
  const found = new Map<Line, Block>();
  for (const hunk of file.hunks) {
    for (let at = 0; at < hunk.lines.length; at += BLOCK_LINES) {
      const part = hunk.lines.slice(at, at + BLOCK_LINES);
      const [now, before] = [
        { lines: part.filter(({ kind }) => kind !== "removed"), ranges: null },
        { lines: part.filter(({ kind }) => kind !== "added"), ranges: null },
      ];
      for (const line of part) found.set(line, line.kind === "removed" ? before : now);
    }
  }
  return found;
}

export function highlightLines(
  language: string,
  lines: readonly Line[],
): ReadonlyMap<Line, readonly SyntaxRange[]> {
  const found = new Map<Line, SyntaxRange[]>();
  const text = lines.map((line) => line.text).join("\n");
  if (text.length > MAX_BLOCK_LENGTH || !lowlight.registered(language)) return found;
  let [index, column] = [0, 0];
  const add = (part: string, syntax: Syntax | null) => {
    for (const [place, piece] of part.split("\n").entries()) {
      if (place > 0) [index, column] = [index + 1, 0];
      const line = lines[index];
      if (line !== undefined && syntax !== null && piece !== "") {
        const ranges = found.get(line) ?? [];
        ranges.push({ start: column, end: column + piece.length, syntax });
        found.set(line, ranges);
      }
      column += piece.length;
    }
  };
  const walk = (node: SyntaxNode, outer: Syntax | null) => {
    if (node.type === "text") add(node.value ?? "", outer);
    const inner = syntaxOf(node) ?? outer;
    for (const child of node.children ?? []) walk(child, inner);
  };
  walk(lowlight.highlight(language, text), null);
  return found;
}

/** By the class names of highlight.js. */
const SYNTAX: Readonly<Record<string, Syntax>> = {
  "hljs-keyword": "keyword",
  "hljs-literal": "keyword",
  "hljs-selector-tag": "keyword",
  "hljs-meta": "comment",
  "hljs-comment": "comment",
  "hljs-quote": "comment",
  "hljs-string": "string",
  "hljs-regexp": "string",
  "hljs-char": "string",
  "hljs-symbol": "string",
  "hljs-number": "number",
  "hljs-title": "title",
  "hljs-section": "title",
  "hljs-type": "type",
  "hljs-built_in": "type",
  "hljs-class": "type",
  "hljs-name": "name",
  "hljs-attr": "name",
  "hljs-attribute": "name",
  "hljs-selector-class": "name",
  "hljs-selector-id": "name",
  "hljs-property": "name",
};

function syntaxOf({ properties }: SyntaxNode): Syntax | null {
  const [first] = Array.isArray(properties?.className) ? properties.className : [];
  return SYNTAX[String(first)] ?? null;
}
