/** Installs and starts the gateways with which ours is compared. */
import { execFile } from "node:child_process"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { Console, Effect, Schema } from "effect"
import { freePort } from "../../../../test/support/postgresServer.ts"
import { startProcess } from "../../../../test/support/processes.ts"
import { answersWell } from "../answers.ts"
import type { Subject, SubjectKind } from "../subject.ts"
import type { World } from "../world.ts"

const packages = { "@portkey-ai/gateway": "1.15.2", fastify: "5.12.8", pg: "8.16.3" } as const
/** npm would choose version 1.14 or later, with which portkey answers every stream with 500. */
const overrides = { "@hono/node-server": "1.13.8" } as const

export type PeerKind = Exclude<SubjectKind, "ours" | "shared" | "direct">

const Manifest = Schema.fromJsonString(Schema.Struct({ version: Schema.String }))

const installedVersion = (scratch: string, name: string) =>
  Effect.tryPromise(() =>
    readFile(join(scratch, "node_modules", name, "package.json"), "utf8")
  ).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Manifest)),
    Effect.map(({ version }) => version),
    Effect.orElseSucceed(() => null)
  )

/** Installs the packages, unless the folder already has these versions. */
export const installPeers = Effect.fnUntraced(function* (scratch: string) {
  const versions = Object.entries({ ...packages, ...overrides })
  const found = yield* Effect.forEach(versions, ([name]) => installedVersion(scratch, name))
  if (versions.every(([, version], index) => found[index] === version)) return
  yield* Console.log(`installing the peers into ${scratch}`)
  yield* Effect.promise(async () => {
    await mkdir(scratch, { recursive: true })
    await writeFile(
      join(scratch, "package.json"),
      JSON.stringify({ private: true, dependencies: packages, overrides })
    )
    await promisify(execFile)("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund"], {
      cwd: scratch
    })
  })
})

const bearer = { "content-type": "application/json", authorization: "Bearer vendor-key" }

interface Recipe {
  /** The path of its entry file. */
  readonly entry: string
  readonly args: (port: number) => ReadonlyArray<string>
  readonly health: string
  readonly headers: Readonly<Record<string, string>>
  readonly renames: boolean
}

const recipeOf = (kind: PeerKind, scratch: string, vendorUrl: string): Recipe => {
  switch (kind) {
    case "portkey":
      return {
        entry: join(scratch, "node_modules/@portkey-ai/gateway/build/start-server.js"),
        args: (port) => [`--port=${port}`, "--headless"],
        health: "/",
        headers: {
          ...bearer,
          "x-portkey-provider": "openai",
          "x-portkey-custom-host": `${vendorUrl}/v1`
        },
        renames: false
      }
    case "fastify":
    case "bare":
    case "durable":
      return {
        entry: join(import.meta.dirname, `${kind}.ts`),
        args: () => [],
        health: "/healthz",
        headers: bearer,
        renames: true
      }
  }
}

/** Starts a peer, and waits until it listens unless `patient` is false. */
export const startPeer = Effect.fnUntraced(function* (
  kind: PeerKind,
  { options: { scratch }, placement, server, vendor }: World,
  patient: boolean
) {
  const vendorUrl = vendor.url
  const recipe = recipeOf(kind, scratch, vendorUrl)
  const port = yield* Effect.promise(freePort)
  const url = `http://127.0.0.1:${port}`
  const process = yield* startProcess({
    entry: recipe.entry,
    args: recipe.args(port),
    command: placement.node,
    env: {
      NODE_ENV: "production",
      PORT: String(port),
      VENDOR_URL: vendorUrl,
      BENCH_SCRATCH: scratch,
      ...(kind === "durable" ? { DATABASE_URL: yield* server.temporaryDatabase } : {})
    }
  })
  const subject: Subject & { readonly health: string } = {
    name: kind,
    kind,
    url,
    entry: recipe.entry,
    processes: [process],
    books: null,
    headers: recipe.headers,
    model: (id) => (recipe.renames ? id : `vendor-${id}`),
    health: recipe.health
  }
  if (patient) yield* answersWell(process, `${url}${recipe.health}`)
  return subject
})
