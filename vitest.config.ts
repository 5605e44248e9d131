import { readFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { relative } from "node:path"
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Seconds of each long test file, as `npm run test:durations` has measured them. */
const durations = new Map<string, unknown>(
  Object.entries(JSON.parse(readFileSync(new URL("test/durations.json", import.meta.url), "utf8")))
)

/** By project, so that each project's workers are started once; the projects with long files first. */
const order = ["process", "console", "contract", "unit"]

/** Begins the files that take longest first, since a run that begins one last has to wait for it. */
class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const secondsOf = ({ moduleId }: TestSpecification): number =>
      Number(durations.get(relative(import.meta.dirname, moduleId)) ?? 0)
    const rankOf = ({ project }: TestSpecification): number => order.indexOf(project.name)
    return files.toSorted((a, b) => rankOf(a) - rankOf(b) || secondsOf(b) - secondsOf(a))
  }
}

/** Rooms whose tests all start gateways, databases or other processes. */
const processFolders = ["cli", "client", "clients", "e2e", "package", "postgres", "production"]
  .concat(["scripts", "security"])
  .map((folder) => `test/${folder}/**/*.test.ts`)
const processFiles = [...processFolders, "test/**/*.process.test.ts"]
const contractFiles = "test/contract/**/*.test.ts"
const consoleFiles = "test/console/**/*.test.ts"

/** Servers, templates and programs that a run starts once. */
const servers = ["test/support/globalSetup.ts"]
const isOnMemory = process.env.CONTRACT_STORES === "memory"

const projects: ReadonlyArray<TestProjectInlineConfiguration> = [
  {
    test: {
      name: "unit",
      include: ["test/**/*.test.ts"],
      exclude: [...processFiles, contractFiles, consoleFiles],
      testTimeout: 30_000
    }
  },
  {
    test: {
      name: "contract",
      include: [contractFiles],
      exclude: processFiles,
      globalSetup: isOnMemory ? [] : servers,
      testTimeout: 60_000
    }
  },
  {
    test: { name: "process", include: processFiles, globalSetup: servers, testTimeout: 120_000 }
  },
  {
    test: { name: "console", include: [consoleFiles], globalSetup: servers, testTimeout: 120_000 }
  }
]

export default defineConfig({
  // The package's own name leads to its sources, that of no other package.
  resolve: { tsconfigPaths: true },
  test: {
    projects: [...projects],
    hookTimeout: 120_000,
    // Files share their worker's modules: loading them again took as long as most files run.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // For the test of what stays in memory.
    execArgv: ["--expose-gc"],
    // A good part of the time goes into waiting for processes and databases.
    maxWorkers: Math.max(3, availableParallelism())
  }
})
