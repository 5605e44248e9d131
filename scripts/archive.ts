/**
 * Measures the memory of a gateway that archives many large results concurrently. Starts a vendor
 * with generated files, a real PostgreSQL, an S3 server from the npm registry, and the gateway as a
 * separate process. Prints the growth of the gateway's resident memory, and compares the digest of
 * a file that the gateway serves with the vendor's. Exits with 1 when memory grew by more than the
 * limit, or the digests differ.
 *
 *   npm run archive -- --files 50 --mebibytes 200 --max-mebibytes 150
 */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import type { RequestListener } from "node:http"
import { pipeline, Readable } from "node:stream"
import { parseArgs } from "node:util"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Schema } from "effect"
import { s3Server } from "../test/support/s3Server.ts"
import { startImageGateway } from "./imageGateway.ts"

const { values } = parseArgs({
  options: {
    files: { type: "string", default: "50" },
    mebibytes: { type: "string", default: "200" },
    "max-mebibytes": { type: "string", default: "150" }
  }
})
const files = Number(values.files)
const pieces = Number(values.mebibytes)
const maxMebibytes = Number(values["max-mebibytes"])

const MEBIBYTE = 1024 * 1024
const piece = Buffer.alloc(MEBIBYTE, "0123456789abcdef")
const expected = createHash("sha256")
for (let nth = 0; nth < pieces; nth++) expected.update(piece)
const digest = expected.digest("hex")

const large: RequestListener = (_, response) => {
  response.writeHead(200, {
    "content-type": "image/png",
    "content-length": String(pieces * MEBIBYTE)
  })
  pipeline(Readable.from(Array(pieces).fill(piece)), response, () => undefined)
}

/** The resident memory of a process, in mebibytes. */
const residentOf = (pid: number): number => {
  const [, kibibytes = "0"] =
    /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? []
  return Number(kibibytes) / 1024
}

const Count = Schema.Struct({ kept: Schema.Int })

const program = Effect.gen(function* () {
  const place = yield* s3Server
  const gateway = yield* startImageGateway(
    {
      GATEWAY_WEBHOOK_ALLOW_PRIVATE: "1",
      GATEWAY_ARCHIVE_URL: `s3://${place.bucket}?endpoint=${encodeURIComponent(place.endpoint)}`,
      AWS_ACCESS_KEY_ID: "S3RVER",
      AWS_SECRET_ACCESS_KEY: "S3RVER"
    },
    large
  )
  const who = yield* gateway.customer("1000")
  const before = residentOf(gateway.pid)
  const ids = yield* Effect.forEach(Array.from({ length: files }), () => gateway.order(who.key))
  let most = before
  const started = performance.now()
  yield* Effect.gen(function* () {
    most = Math.max(most, residentOf(gateway.pid))
    const [row] =
      yield* gateway.sql`SELECT count(*)::int AS kept FROM archives WHERE state = 'kept'`
    return Schema.decodeUnknownSync(Count)(row).kept
  }).pipe(Effect.delay("50 millis"), Effect.repeat({ until: (kept) => kept === files }))
  const seconds = (performance.now() - started) / 1000
  const served = yield* Effect.promise(async () => {
    const response = await fetch(`${gateway.url}/v1/images/${ids[0]}/content/0`, {
      headers: { authorization: `Bearer ${who.key}` }
    })
    const hash = createHash("sha256")
    for await (const chunk of response.body ?? []) hash.update(chunk)
    return hash.digest("hex")
  })
  const grown = most - before
  yield* Console.log(
    `${files} files of ${pieces} MiB were archived in ${seconds.toFixed(0)} s; ` +
      `resident memory grew from ${before.toFixed(0)} to ${most.toFixed(0)} MiB, by ${grown.toFixed(0)}; ` +
      `the digest served is ${served === digest ? "the vendor's" : "another"}`
  )
  if (grown > maxMebibytes || served !== digest) {
    yield* Effect.sync(() => {
      process.exitCode = 1
    })
  }
}).pipe(Effect.scoped)

NodeRuntime.runMain(program)
