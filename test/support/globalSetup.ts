import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import type { TestProject } from "vitest/node"
import { layerEmbedded } from "../../src/postgres/embedded/EmbeddedPostgres.ts"
import { startGuard } from "./guard.ts"
import { startPostgres } from "./postgresServer.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** Superuser's URL of the run's PostgreSQL server. */
    readonly postgresUrl: string
    /** A data directory with an empty, cleanly closed embedded database, to be copied. */
    readonly embeddedTemplate: string
  }
}

interface Template {
  readonly dataDir: string
  readonly remove: () => Promise<void>
}

/** Creating a cluster takes seconds and copying one a moment, so it is done once for all suites. */
const makeTemplate = async (): Promise<Template> => {
  const dataDir = await mkdtemp(join(tmpdir(), "media-gateway-template-"))
  const guard = startGuard({ signal: "KILL", directory: dataDir })
  const remove = async (): Promise<void> => {
    await rm(dataDir, { recursive: true, force: true })
    guard.dismiss()
  }
  try {
    await Effect.runPromise(Effect.scoped(Layer.build(layerEmbedded({ dataDir }))))
    return { dataDir, remove }
  } catch (cause) {
    await remove()
    throw cause
  }
}

/** Starts what the suites of one run share; Vitest calls the answered function at the run's end. */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  const server = startPostgres()
  const template = makeTemplate()
  const release = async (): Promise<void> => {
    // What did not start has cleaned up after itself.
    const ignore = (): void => undefined
    await server.then(({ stop }) => stop(), ignore)
    await template.then(({ remove }) => remove(), ignore)
  }
  try {
    project.provide("postgresUrl", (await server).url)
    project.provide("embeddedTemplate", (await template).dataDir)
    return release
  } catch (cause) {
    await release()
    throw cause
  }
}
