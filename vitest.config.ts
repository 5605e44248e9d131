import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

export default defineConfig({
  // The package's own name leads to its sources, that of no other package.
  ssr: {
    resolve: { conditions: ["media-gateway-source", "module", "node", "import", "default"] }
  },
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/globalSetup.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A good part of the time goes into waiting for processes and databases.
    maxWorkers: Math.max(3, availableParallelism())
  }
})
