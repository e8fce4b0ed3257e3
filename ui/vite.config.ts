import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// All files come from the server: nothing is inlined, because the content security policy would refuse it.
export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../src/plait/ui",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2023",
  },
  server: { proxy: { "/api": "http://127.0.0.1:3001", "/login": "http://127.0.0.1:3001" } },
  // These tests need no environment of their own for each file, which takes three quarters of the time.
  // Stylesheets are read only as text, by their own test.
  test: {
    include: ["src/**/*.test.ts", "src/**/*.test.tsx"],
    isolate: false,
    css: { include: [/\?raw/] },
    testTimeout: 120_000, // only a hang takes that long, also on a busy machine
  },
} as Parameters<typeof defineConfig>[0]);
