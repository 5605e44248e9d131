/**
 * Server code takes time, randomness, timers and asynchronous work from Effect's services only. Under
 * a clock, random numbers and a scheduler of a test, a gateway therefore runs the same way each time,
 * and the failure of a simulated run can be repeated by its seed.
 */
import { assert, describe, it } from "@effect/vitest"
import { files, sources } from "./support/sources.ts"

/** What a file takes from outside the services, and where it is to be had instead. */
const leaks = {
  time: {
    pattern:
      /\bDate\.now\b|\bnew Date\(\s*\)|(?<!new )(?<![\w.])Date\(|\bperformance\.|\bhrtime\b|"(?:node:)?perf_hooks"|\bnowUnsafe\b/g,
    instead: "the Clock, or runtime/monotonic.ts for durations"
  },
  randomness: {
    pattern:
      /\bMath\.random\b|\brandom(?:UUID|Int|Fill(?:Sync)?)\b|\bgetRandomValues\b|(?<!\.)\brandomBytes\b|\b(?:randomBytes|uuidV[47]|ulid)Unsafe\b|(?<![\w./])crypto\.|\blayerWebCrypto\b/g,
    instead: "Random, or SecureRandom (crypto.ts) for secrets and ids"
  },
  timer: {
    pattern:
      /\bset(?:Timeout|Interval|Immediate)\b|\bqueueMicrotask\b|\bnextTick\b|\bAbortSignal\.timeout\b|"(?:node:)?timers(?:\/promises)?"/g,
    instead: "Effect.sleep, Effect.yieldNow or runtime/alarms.ts"
  },
  promise: {
    pattern:
      /\bnew Promise\b|(?<![\w.])Promise\.\w+|\basync(?=\s*(?:\(|\*|function\b|[\w$]+\s*(?:=>|\()))|(?<!\.)\bawait(?=\s+[\w$(])|\.then\(|\bEffect\.(?:p|tryP)romise\b|\bfrom(?:AsyncIterable|ReadableStream)\b|"(?:node:)?\w+\/promises"/g,
    instead: "effects and fibers"
  },
  run: {
    pattern: /\bEffect\.run(?:Fork|Callback|(?:Promise|Sync)(?:Exit)?)\(|\bManagedRuntime\b/g,
    instead: "Effect.run...With and the context of the surrounding fiber, or FiberSet.makeRuntime"
  }
} as const

type Leak = keyof typeof leaks

const leakNames: ReadonlyArray<Leak> = ["time", "randomness", "timer", "promise", "run"]

/** Programs beside the server: other processes, browsers, and clients. */
const otherPrograms = /^(?:ai-sdk|cli|client|console|simulator)\//

interface Edge {
  readonly takes: ReadonlyArray<Leak>
  readonly reason: string
}

/** The files at the edge of the server, each with what it may take from outside the services. */
const edges: Readonly<Record<string, Edge>> = {
  "launch.ts": { takes: ["promise"], reason: "the process loads the program that it runs" },
  "run.ts": { takes: ["time"], reason: "signals of the process" },
  "crypto.ts": { takes: ["randomness"], reason: "the random service itself" },
  "http/server/listener.ts": { takes: ["timer"], reason: "real sockets" },
  "http/server/connectionTurns.ts": { takes: ["time", "timer"], reason: "real sockets" },
  "http/server/jsonBody.ts": {
    takes: ["randomness"],
    reason: "a mark of fixed length that is replaced before anyone reads the body"
  },
  "http/server/consolePages.ts": { takes: ["promise"], reason: "files of the console" },
  "adapters/wire/VendorWire.ts": { takes: ["time", "timer"], reason: "real sockets" },
  "adapters/wire/largeAnswers.ts": { takes: ["timer"], reason: "real sockets" },
  "egress/OutgoingWeb.ts": { takes: ["promise"], reason: "real sockets" },
  "runtime/filteredLookup.ts": { takes: ["promise"], reason: "closes real sockets" },
  "operations/processMeasure.ts": { takes: ["time"], reason: "measures the process itself" },
  "postgres/embedded/DatabaseServer.ts": { takes: ["promise"], reason: "ends a thread" },
  "postgres/embedded/embeddedWorker.ts": { takes: ["promise"], reason: "a thread of its own" },
  "postgres/embedded/SyncedNodeFs.ts": { takes: ["promise"], reason: "a part of that thread" },
  "features/archive/archiveClient.ts": { takes: ["promise"], reason: "loads an optional package" },
  "features/archive/BucketS3.ts": { takes: ["promise"], reason: "the client of AWS" },
  "features/archive/demoArchive.ts": { takes: ["promise"], reason: "a server of the demo" },
  "features/mcp/mcpHandlers.ts": { takes: ["promise"], reason: "the package of the protocol" },
  "features/mcp/mcpServer.ts": { takes: ["promise"], reason: "the package of the protocol" },
  "features/signIn/IdentityProvider.ts": {
    takes: ["promise"],
    reason: "the packages of the protocol, which call the provider"
  },
  "testing/clock.ts": {
    takes: ["timer", "promise"],
    reason: "advances a test's clock whenever real answers have had time to arrive"
  },
  "testing/testGateway.ts": { takes: ["promise"], reason: "gives clients a fetch function" }
}

/** The source without its comments, in lines as before. */
const withoutComments = (source: string): string =>
  source.replace(/(?<=^|\s)(?:\/\*[\s\S]*?\*\/|\/\/.*$)/gm, (comment) =>
    comment.replace(/[^\n]/g, " ")
  )

const leaksIn = (source: string) => {
  const code = withoutComments(source)
  return leakNames.flatMap((name) =>
    [...code.matchAll(leaks[name].pattern)].map(({ 0: text, index }) => ({
      name,
      text,
      line: code.slice(0, index).split("\n").length
    }))
  )
}

const serverFiles = files.filter((file) => !otherPrograms.test(file))

describe("the server", () => {
  it("takes time, randomness, timers and asynchronous work from Effect's services", () => {
    const strays = serverFiles.flatMap((file) =>
      leaksIn(sources.get(file) ?? "")
        .filter(({ name }) => edges[file]?.takes.includes(name) !== true)
        .map(({ name, text, line }) => `src/${file}:${line} ${text}: take ${leaks[name].instead}`)
    )
    assert.deepStrictEqual(strays, [])
  })

  it("has no edge in the list that takes less than the list says", () => {
    const taken = new Map(
      Object.keys(edges).map((file) => [
        file,
        new Set(leaksIn(sources.get(file) ?? "").map(({ name }) => name))
      ])
    )
    const stale = Object.entries(edges).flatMap(([file, { takes }]) =>
      takes.filter((name) => taken.get(file)?.has(name) !== true).map((name) => `${file}: ${name}`)
    )
    assert.deepStrictEqual(stale, [])
  })
})

describe("a leak", () => {
  it.each([
    ["time", "const now = Date.now()"],
    ["time", "const now = new Date()"],
    ["time", "const now = performance.now()"],
    ["time", "const now = process.hrtime.bigint()"],
    ["time", 'import { performance } from "node:perf_hooks"'],
    ["time", "const now = DateTime.nowUnsafe()"],
    ["randomness", "const chance = Math.random()"],
    ["randomness", 'import { createHmac, randomBytes } from "node:crypto"'],
    ["randomness", "const id = crypto.randomUUID()"],
    ["randomness", "getRandomValues(bytes)"],
    ["randomness", "randomFillSync(bytes)"],
    ["randomness", "const id = SecureRandom.uuidV7Unsafe()"],
    ["randomness", "Layer.provide(SecureRandom.layerWebCrypto)"],
    ["timer", "setTimeout(ring, 10)"],
    ["timer", "setInterval(ring, 10)"],
    ["timer", "setImmediate(ring)"],
    ["timer", "queueMicrotask(ring)"],
    ["timer", "process.nextTick(ring)"],
    ["timer", "const signal = AbortSignal.timeout(10)"],
    ["timer", 'import { setTimeout as sleep } from "node:timers/promises"'],
    ["promise", "return new Promise((resolve) => resolve(1))"],
    ["promise", "return Promise.all(calls)"],
    ["promise", "const read = async (path: string) => path"],
    ["promise", "async function read() {}"],
    ["promise", "const read = async path => path"],
    ["promise", "const text = await answer.text()"],
    ["promise", "answer.then(read)"],
    ["promise", "Effect.promise(() => answer)"],
    ["promise", "Effect.tryPromise({ try: read, catch: faultOf })"],
    ["promise", 'import { readFile } from "node:fs/promises"'],
    ["promise", "Stream.fromReadableStream({ evaluate: read, onError: faultOf })"],
    ["promise", 'const accepted = "*/*"\nreturn Promise.resolve("*/*")'],
    ["run", "Effect.runFork(effect)"],
    ["run", "Effect.runSync(random.uuidV7())"],
    ["run", "Effect.runPromiseExit(effect)"]
  ])("of %s is found: %s", (name, source) => {
    assert.include(
      leaksIn(source).map((leak) => leak.name),
      name
    )
  })

  it.each([
    "const at = new Date(yield* Clock.currentTimeMillis)",
    "const bytes = yield* random.randomBytes(16)",
    "const end = yield* Deferred.await(answer)",
    "yield* isAnySet.await",
    "// Date.now() and setTimeout are in a comment.",
    "/** As `new Promise` does. */",
    "Effect.runForkWith(context)(effect)",
    'const url = "https://vendor.test/async"',
    'import { layerCrypto } from "./crypto.ts"'
  ])("is not in: %s", (source) => {
    assert.deepStrictEqual(leaksIn(source), [])
  })
})
