/* Names of files as git writes them: those with odd bytes are in quotes, with C's escapes. */

const ESCAPES: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, "\\": 92 };
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The name that these words quote; others are a name as they stand. */
export function unquote(text: string): string {
  return text.startsWith('"') ? readQuoted(text, 0).name : text;
}

/** The quoted name that begins at this place, and the place after it. What is never closed goes to the end. */
function readQuoted(text: string, start: number): { name: string; end: number } {
  const bytes: number[] = [];
  let at = start + 1;
  while (at < text.length && text[at] !== '"') {
    if (text[at] === "\\") at = readEscape(text, at + 1, bytes);
    else {
      const letter = String.fromCodePoint(text.codePointAt(at) ?? 0);
      bytes.push(...encoder.encode(letter));
      at += letter.length;
    }
  }
  return { name: decoder.decode(new Uint8Array(bytes)), end: at + 1 };
}

function readEscape(text: string, at: number, bytes: number[]): number {
  const octal = /^[0-3][0-7]{2}/.exec(text.slice(at, at + 3));
  if (octal !== null) {
    bytes.push(Number.parseInt(octal[0], 8));
    return at + 3;
  }
  const letter = text[at] ?? "";
  bytes.push(ESCAPES[letter] ?? letter.charCodeAt(0));
  return at + 1;
}

/** Both names of `diff --git a/X b/X`, as far as the line alone tells them. */
export function parseNames(line: string): [string, string] | null {
  const text = line.slice("diff --git ".length);
  if (text.startsWith('"')) {
    const { name, end } = readQuoted(text, 0);
    return [stripPrefix(name), stripPrefix(unquote(text.slice(end + 1)))];
  }
  if (text.endsWith('"')) {
    const cut = text.indexOf(' "');
    return cut < 0 ? null : [stripPrefix(text.slice(0, cut)), stripPrefix(unquote(text.slice(cut + 1)))];
  }
  // Names that differ are said again below it; those that don't are of one length.
  const half = (text.length - 1) / 2;
  const [before, after] = [stripPrefix(text.slice(0, half)), stripPrefix(text.slice(half + 1))];
  return before === after && before !== "" ? [before, after] : null;
}

/** Without git's `a/` or `b/`. */
export function stripPrefix(name: string): string {
  return /^[ab]\//.test(name) ? name.slice(2) : name;
}
