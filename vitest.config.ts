import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/globalSetup.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Most of the time goes into waiting for processes and databases, so two cores carry two.
    maxWorkers: Math.max(2, availableParallelism() - 1)
  }
})
