// Generates types from the server's OpenAPI document: `npm run types` writes them, `-- --check` compares.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";

const top = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const file = join(top, "ui", "src", "api", "schema.d.ts");
const head =
  "// Made by `npm run types` from the server's OpenAPI. Do not edit: change the server's shapes, and make it again.\n\n";

function python() {
  const own = join(top, ".venv", "bin", "python");
  return process.env.PYTHON ?? (existsSync(own) ? own : "python3");
}

async function types() {
  const described = execFileSync(python(), ["-m", "plait.server.http.app"], {
    cwd: top,
    maxBuffer: 1 << 26,
  });
  return head + astToString(await openapiTS(JSON.parse(described.toString()), { defaultNonNullable: false }));
}

const made = await types();
if (process.argv.includes("--check")) {
  if (!existsSync(file) || readFileSync(file, "utf8") !== made) {
    console.error("src/api/schema.d.ts is not what the server says. Make it again: npm run types");
    process.exit(1);
  }
} else {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, made);
}
