/**
 * The official `openai` package asks again on its own: after 408, 409, 429 and from 500 on, after a
 * lost connection, and when its own patience ends. None of it may be paid twice.
 */
import { randomUUID } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Schema } from "effect"
import OpenAI from "openai"
import { bodyAs, type Customer, Gateway } from "../support/gateway.ts"
import {
  done,
  keyedOpenaiOf,
  openaiOf,
  rejection,
  watchedFetch
} from "../support/officialClients.ts"
import { startTcpProxy } from "../support/tcpProxy.ts"
import { layerWordVendorGateway, promptOf, WordVendor } from "../support/wordVendor.ts"

const said = (content: string) => [{ role: "user" as const, content }]

type Kind = "video" | "image" | "text" | "stream" | "vector"

/** Every way to order something. */
const kinds: Readonly<Record<Kind, (client: OpenAI, prompt: string) => PromiseLike<unknown>>> = {
  video: (client, prompt) =>
    client.post<{ id: string }>("/videos/generations", { body: { model: "film", prompt } }),
  image: (client, prompt) => client.images.generate({ model: "paint", prompt }),
  text: (client, prompt) =>
    client.chat.completions.create({ model: "talk", messages: said(prompt) }),
  stream: async (client, prompt) => {
    const order = { model: "talk", messages: said(prompt), stream: true } as const
    const chunks: Array<OpenAI.ChatCompletionChunk> = []
    for await (const chunk of await client.chat.completions.create(order)) chunks.push(chunk)
    return chunks
  },
  vector: (client, prompt) => client.embeddings.create({ model: "vector", input: prompt })
}
const everyKind = ["video", "image", "text", "stream", "vector"] as const

const Usage = Schema.Struct({ data: Schema.Array(Schema.Struct({ charge: Schema.String })) })

/** How many charges there are when nothing is held any more. */
const charges = Effect.fnUntraced(function* (who: Customer) {
  const gateway = yield* Gateway
  yield* gateway
    .balance(who)
    .pipe(Effect.delay("10 millis"), Effect.repeat({ until: ({ held }) => held === "0" }))
  const answer = yield* gateway.call("/v1/usage?limit=100", { key: who.key })
  return (yield* bodyAs(Usage, answer)).data.length
})

/** The vendor's answers, how often it is asked, the charges, and the error that comes of it. */
const ways = [
  { words: ["late", "200"], asked: 2, paid: 1, status: null },
  { words: ["503", "200"], asked: 2, paid: 1, status: null },
  { words: ["soon"], asked: "always", paid: 0, status: 503 },
  { words: ["400"], asked: 1, paid: 0, status: 400 },
  { words: ["500"], asked: 1, paid: 0, status: 502 },
  { words: ["502"], asked: 1, paid: 0, status: 502 },
  { words: ["504"], asked: 1, paid: 0, status: 504 },
  { words: ["reset"], asked: 1, paid: 0, status: 502 },
  { words: ["cut"], asked: 1, paid: "unread", status: 502 },
  { words: ["html"], asked: 1, paid: "unread", status: 502 }
] as const

/** An answer of success that cannot be read is charged, but that of a task that nobody could read. */
const chargesOf = (kind: Kind, paid: (typeof ways)[number]["paid"]): number =>
  paid === "unread" ? (kind === "video" ? 0 : 1) : paid

layer(layerWordVendorGateway, { excludeTestServices: true, timeout: "60 seconds" })(
  "the retries of the openai package",
  (it) => {
    it.effect("order nothing again that may have been made", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const vendor = yield* WordVendor
        const who = yield* gateway.customer("1000")
        const orders = everyKind.flatMap((kind) =>
          ways.flatMap((way) => [
            { ...way, kind, maxRetries: undefined },
            { ...way, kind, maxRetries: 5 }
          ])
        )
        yield* Effect.forEach(
          orders,
          Effect.fnUntraced(function* ({ words, asked, status, kind, maxRetries }) {
            const client = yield* openaiOf(who, maxRetries === undefined ? {} : { maxRetries })
            const name = randomUUID()
            const order = () => kinds[kind](client, promptOf(name, ...words))
            const label = `${kind} ${words.join()}`
            if (status === null) yield* done(order)
            else {
              const error = yield* rejection(order)
              assert.instanceOf(error, OpenAI.APIError, label)
              assert.deepInclude(error, { status, code: "upstream_error" }, label)
            }
            const times = asked === "always" ? 1 + (maxRetries ?? 2) : asked
            assert.strictEqual(yield* vendor.orders(name), times, label)
          }),
          { concurrency: 25 }
        )
        assert.strictEqual(
          yield* charges(who),
          orders.reduce((sum, { kind, paid }) => sum + chargesOf(kind, paid), 0)
        )
        yield* gateway.verify
      })
    )

    it.effect("make an order once under its key, wherever the connection is cut", () =>
      Effect.forEach(
        everyKind.flatMap((kind) => [[kind, "work"] as const, [kind, "answer"] as const]),
        Effect.fnUntraced(function* ([kind, at]) {
          const gateway = yield* Gateway
          const vendor = yield* WordVendor
          const who = yield* gateway.customer("100")
          const proxy = yield* startTcpProxy(Number(new URL(gateway.url).port))
          const { seen, fetch } = watchedFetch()
          const baseURL = `http://127.0.0.1:${proxy.port}/v1`
          const client = yield* keyedOpenaiOf(who, { baseURL, fetch })
          const name = randomUUID()
          const cut = yield* Effect.forkChild(proxy.cutOnce(at, name))
          const exit = yield* Effect.exit(done(() => kinds[kind](client, promptOf(name, "200"))))
          yield* Fiber.join(cut)
          const label = `${kind} ${at}`
          // What was streamed is not kept, so it is refused where it had begun.
          if (kind === "stream") assert.include([200, 409], seen.at(-1), label)
          else assert.isTrue(Exit.isSuccess(exit), label)
          assert.strictEqual(seen[0], "lost", label)
          assert.strictEqual(yield* vendor.orders(name), 1, label)
          assert.strictEqual(yield* charges(who), 1, label)
        }, Effect.scoped),
        { concurrency: "unbounded" }
      )
    )

    it.effect("make an order once under its key that outlasts the client's patience", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const vendor = yield* WordVendor
        const who = yield* gateway.customer("100")
        const { seen, fetch } = watchedFetch()
        const name = randomUUID()
        const client = yield* openaiOf(who, {
          timeout: 500,
          maxRetries: 10,
          fetch: async (input, init) => {
            const response = await fetch(input, init)
            // So it is answered after the client has been told that it is still being made.
            if (response.status === 409) await Effect.runPromise(vendor.letGo)
            return response
          }
        })
        const made = yield* done(() =>
          client.images.generate(
            { model: "paint", prompt: promptOf(name, "wait") },
            { headers: { "Idempotency-Key": name } }
          )
        )
        assert.strictEqual(made.data?.length, 1)
        assert.strictEqual(seen[0], "lost")
        assert.include(seen, 409)
        assert.strictEqual(yield* vendor.orders(name), 1)
        assert.strictEqual(yield* charges(who), 1)
      })
    )

    it.effect("make another order of one without a key whose answer was lost", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const vendor = yield* WordVendor
        const who = yield* gateway.customer("100")
        const proxy = yield* startTcpProxy(Number(new URL(gateway.url).port))
        const client = yield* openaiOf(who, { baseURL: `http://127.0.0.1:${proxy.port}/v1` })
        const name = randomUUID()
        const cut = yield* Effect.forkChild(proxy.cutOnce("answer", name))
        // The option of that name alone sends no header.
        yield* done(() =>
          client.images.generate(
            { model: "paint", prompt: promptOf(name, "200") },
            { idempotencyKey: name }
          )
        )
        yield* Fiber.join(cut)
        assert.strictEqual(yield* vendor.orders(name), 2)
        assert.strictEqual(yield* charges(who), 2)
      })
    )

    it.effect("wait as long as a key over its rate is told, and go on", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1", { key: { requests_per_minute: 60 } })
        const { seen, fetch } = watchedFetch()
        // The package's own pause before its only retry is shorter than what the gateway asks for.
        const client = yield* openaiOf(who, { maxRetries: 1, fetch })
        yield* done(async () => {
          while (!seen.includes(429)) await client.models.list()
        })
        assert.deepEqual(seen.slice(-2), [429, 200])
      })
    )
  }
)
