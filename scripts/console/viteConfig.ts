/** The build of the console: files that the gateway serves below `/console/`. */
import { join } from "node:path"
import react from "@vitejs/plugin-react"
import { defineConfig } from "vite"

const root = join(import.meta.dirname, "..", "..")

export const CONSOLE_SOURCES = join(root, "src", "console")
export const CONSOLE_FILES = join(root, "dist", "console")

export default defineConfig({
  root: CONSOLE_SOURCES,
  base: "/console/",
  plugins: [react()],
  // A placeholder that the gateway replaces with a new nonce in each response.
  html: { cspNonce: "CONSOLE_NONCE" },
  build: {
    outDir: CONSOLE_FILES,
    emptyOutDir: true,
    // Inlined assets would need a content security policy that allows `data:` everywhere.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2_000
  },
  server: {
    host: "127.0.0.1",
    proxy: Object.fromEntries(
      ["/v1", "/admin/v1", "/metrics", "/healthz", "/readyz", "/openapi.json", "/docs"].map(
        (path) => [path, process.env.GATEWAY_URL ?? "http://127.0.0.1:8080"]
      )
    )
  }
})
