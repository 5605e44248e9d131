import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** What takes longest, to be begun first: the run would end with one of them otherwise. */
const long = [
  "package",
  "crash",
  "chaos",
  "embedded",
  "masterKeyRotation",
  "databaseAway",
  "canaries",
  "rollingRestart",
  "compose",
  "versions",
  "restore",
  "walkDemo",
  "manyGateways",
  "shutdown",
  "twoGateways",
  "demo",
  "sharedPort",
  "overspend",
  "polling",
  "pages",
  "playground"
]

class LongFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = long.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`))
      return at === -1 ? long.length : at
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  // The package's own name leads to its sources, that of no other package.
  resolve: { tsconfigPaths: true },
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/globalSetup.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Files share their worker's modules: loading them again took as long as most files run.
    isolate: false,
    sequence: { sequencer: LongFirst },
    // For the test of what stays in memory.
    execArgv: ["--expose-gc"],
    // A good part of the time goes into waiting for processes and databases.
    maxWorkers: Math.max(3, availableParallelism())
  }
})
