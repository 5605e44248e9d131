import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { makeBodies } from "../../src/http/server/bodies.ts"

const MAX_BYTES = 100_000
const bounds = {
  maxBytes: MAX_BYTES,
  levels: 64,
  values: 50_000,
  arrayNumbers: 0,
  otherBytes: MAX_BYTES
}

/** A request whose body is a text in JSON, in pieces of these sizes. */
const inPieces = (sizes: ReadonlyArray<number>) => {
  const whole = sizes.map((size, index) => `${index % 10}`.repeat(size)).join("")
  const text = whole.slice(1, -1)
  const body = new TextEncoder().encode(whole === "" ? "" : `"${text}"`)
  let sent = 0
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const size of sizes) {
        controller.enqueue(body.subarray(sent, sent + size))
        sent += size
      }
      controller.close()
    }
  })
  const request = new Request("http://gateway.test/", {
    method: "POST",
    body: stream,
    duplex: "half"
  })
  return { request: HttpServerRequest.fromWeb(request), text }
}

const ones = Array.from({ length: 10_000 }, () => 1)

it.effect.each([
  ["none", []],
  ["one", [20_000]],
  ["large ones", [30_000, 40_000, 30_000]],
  ["single bytes", ones],
  ["small and large ones in turn", [1, 5000, 4095, 1, 4096, 1, 70_000, 3]]
] as const)("a body in pieces is what was sent: %s", ([, sizes]) =>
  Effect.gen(function* () {
    const sent = inPieces(sizes)
    const { json } = yield* makeBodies(1e9).read("o", sent.request, bounds)
    assert.strictEqual(yield* json, sizes.length === 0 ? undefined : sent.text)
  }).pipe(Effect.scoped)
)

it.effect("a body that becomes longer than it may is refused", () =>
  Effect.gen(function* () {
    const { request } = inPieces([MAX_BYTES, 1])
    const refused = yield* Effect.flip(makeBodies(1e9).read("o", request, bounds))
    assert.strictEqual(refused._tag, "payload_too_large")
  }).pipe(Effect.scoped)
)

it.effect("the room of a body is kept until its scope closes, and one without room has none", () =>
  Effect.gen(function* () {
    const bodies = makeBodies(100_000)
    const read = (owner: string, size: number) =>
      bodies.read(owner, inPieces([size]).request, bounds)
    yield* Effect.gen(function* () {
      yield* read("a", 30_000)
      const refused = yield* Effect.flip(read("a", 30_000))
      assert.strictEqual(refused._tag, "overloaded")
      yield* read("a", 20_000)
      yield* read("b", 50_000)
    }).pipe(Effect.scoped)
    yield* read("a", 50_000)
  }).pipe(Effect.scoped)
)

it.effect("a body that tells no length is cut at a small bound as well", () =>
  Effect.gen(function* () {
    const { request } = inPieces([10_000, 10_000])
    const read = makeBodies(1e9).read("o", request, { ...bounds, maxBytes: 15_000 })
    assert.strictEqual((yield* Effect.flip(read))._tag, "payload_too_large")
  })
)
