/** The archive's bucket as a process of the world, and a gateway's connection to it. */
import { createHash } from "node:crypto"
import { Effect, Layer, Schema, Stream } from "effect"
import { Bucket, BucketFault } from "../../src/services/results/ArchiveBucket.ts"
import type { Generator } from "./generator.ts"
import type { Handler, Network } from "./network.ts"
import { time } from "./realm.ts"
import type { Actor } from "./world.ts"

export const BUCKET_HOST = "bucket.test"

/** The probabilities that the bucket refuses a request, and that the answer to one is lost. */
const REFUSAL_PROBABILITY = 0.03
const LOSS_PROBABILITY = 0.03
/** That it takes seconds for a file, longer than an order of images may take. */
const SLOWNESS_PROBABILITY = 0.2
const MOST_SLOW_MILLIS = 20_000

const pause = (millis: number) => new Promise<void>((resolve) => time.set(millis, resolve))

const measure = (bytes: Uint8Array) => ({
  bytes: bytes.length,
  sha256: createHash("sha256").update(bytes).digest("hex")
})

export interface BucketServer {
  readonly handle: Handler
  /** What it has, by key. */
  readonly files: ReadonlyMap<string, ReturnType<typeof measure>>
}

export const makeBucketServer = (dice: Generator): BucketServer => {
  const files = new Map<string, ReturnType<typeof measure>>()
  const keysOf = (prefix: string) => [...files.keys()].filter((key) => key.startsWith(prefix))

  const answer = async (request: Request, key: string): Promise<Response> => {
    switch (request.method) {
      case "PUT": {
        const bytes = new Uint8Array(await request.arrayBuffer())
        if (dice.isHit(SLOWNESS_PROBABILITY)) await pause(dice.between(1000, MOST_SLOW_MILLIS))
        files.set(key, measure(bytes))
        return new Response()
      }
      case "DELETE":
        files.delete(key)
        return new Response()
      default:
        return Response.json(keysOf(key))
    }
  }
  const handle: Handler = async (request) => {
    if (dice.isHit(REFUSAL_PROBABILITY)) return new Response(null, { status: 503 })
    const response = await answer(request, new URL(request.url).pathname.slice(1))
    if (dice.isHit(LOSS_PROBABILITY)) throw new Error("the answer is lost")
    return response
  }
  return { files, handle }
}

const decodeKeys = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Array(Schema.String)))

/** A gateway's bucket, which no client of the world loads files from. */
export const layerSimulatedBucket = (network: Network, gateway: Actor) => {
  const send = Effect.fnUntraced(function* (
    method: string,
    key: string,
    body: Uint8Array<ArrayBuffer> | null
  ) {
    const { status, body: answer } = yield* Effect.tryPromise({
      try: (signal) =>
        network.send(
          gateway,
          new Request(`http://${BUCKET_HOST}/${key}`, { method, body, signal })
        ),
      catch: () => new BucketFault({ message: "the connection was cut" })
    })
    if (status !== 200) {
      return yield* new BucketFault({ message: `the bucket answered ${status}` })
    }
    return answer
  })
  const unused = () => Effect.die(new Error("no client of the world loads a file"))
  return Layer.succeed(Bucket, {
    put: Effect.fnUntraced(function* <E>(
      key: string,
      _: string,
      bytes: Stream.Stream<Uint8Array, E>
    ) {
      const chunks = yield* Effect.mapError(
        Stream.runCollect(bytes),
        () => new BucketFault({ message: "the file broke off" })
      )
      const file = Buffer.concat(chunks)
      yield* send("PUT", key, file)
      return measure(file)
    }),
    removeAll: Effect.fnUntraced(function* (prefix) {
      const listing = Buffer.from(yield* send("GET", prefix, null)).toString()
      for (const key of yield* Effect.orDie(decodeKeys(listing))) {
        yield* send("DELETE", key, null)
      }
    }),
    get: unused,
    presign: unused
  })
}
