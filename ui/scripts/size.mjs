// The size of what a browser loads before the first view: all files that index.html names, compressed as the server does.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const MOST = 200_000; // bytes
const folder =
  process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), "..", "..", "src", "plait", "ui");

const html = readFileSync(join(folder, "index.html"), "utf8");
const named = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, name]) => name);
const sizes = ["index.html", ...new Set(named)].map((name) => ({
  name,
  size: gzipSync(readFileSync(join(folder, name)), { level: 6 }).length,
}));
const total = sizes.reduce((sum, { size }) => sum + size, 0);
if (!named.some((name) => name.endsWith(".js")))
  throw new Error("index.html names no script: is it the built one?");

for (const { name, size } of sizes) console.log(`${String(size).padStart(8)}  ${name}`);
console.log(`${String(total).padStart(8)}  bytes before the first view; ${MOST} are allowed`);
if (total > MOST) {
  console.error("That is too much. Load what the board does not need later: lazy() in src/app/App.tsx.");
  process.exit(1);
}
