/** Responses are held, charged and refunded as the same chats, and stored for their organisation. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { StoredResponses } from "../../src/services/results/StoredResponses.ts"
import { toNano } from "../support/amounts.ts"
import { databasesInTurn } from "../support/databases.ts"
import { databaseText } from "../support/databaseText.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { chunkOf, counted, heldStream } from "../support/heldStream.ts"
import { errorOf } from "../support/orders.ts"
import {
  askResponse,
  latestOrder,
  ResponseBody,
  respond,
  responseEventsIn,
  responseModels,
  responsesCatalog,
  responseTextIn
} from "../support/responses.ts"
import { talk } from "../support/textCatalog.ts"
import { ask, latestUsage } from "../support/texts.ts"

const books = (who: Customer) =>
  Effect.gen(function* () {
    const gateway = yield* Gateway
    const { id: _, ...order } = (yield* latestOrder(who)) ?? assert.fail("no order")
    const { balance, held } = yield* gateway.balance(who)
    return { order, balance, held, usage: yield* latestUsage(who) }
  })

const read = (who: Customer, path: string) =>
  Effect.flatMap(Gateway, (gateway) => gateway.call(`/v1/responses/${path}`, { key: who.key }))

const made = Effect.fnUntraced(function* (who: Customer, json: object) {
  const answer = yield* askResponse(who, json)
  assert.strictEqual(answer.status, 200, answer.text)
  return yield* bodyAs(ResponseBody, answer)
})

/** The vendor of `talk-held`, whose stream the test writes. */
const heldVendor = Effect.gen(function* () {
  const gateway = yield* Gateway
  const vendor = yield* heldStream
  yield* gateway.admin("/catalog", {
    method: "PUT",
    json: responsesCatalog(vendor.url)(gateway.simulator.url)
  })
  return vendor
})

const cases = responseModels.flatMap((model) => [[model, false] as const, [model, true] as const])

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor: responsesCatalog() }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`responses (${kind})`, (it) => {
    it.effect.each(cases)(
      "the books of a response are those of its chat: %s, stream %s",
      ([model, stream]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          for (const prompt of [
            "a lighthouse at dusk",
            `${"a long and repeated prefix ".repeat(10)} sim:cached=40`,
            "count sim:nousage",
            "count sim:usage=0",
            "count sim:usage=-1",
            "count sim:usage=9900000"
          ]) {
            const [one, other] = [yield* gateway.customer("1"), yield* gateway.customer("1")]
            const chat = yield* ask(one, talk(prompt, { model, stream }))
            assert.strictEqual(chat.status, 200, chat.text)
            const response = yield* askResponse(other, respond(prompt, { model, stream }))
            assert.strictEqual(response.status, 200, response.text)
            assert.deepStrictEqual(yield* books(other), yield* books(one), prompt)
            assert.strictEqual((yield* books(other)).order.state, "succeeded")
          }
          yield* gateway.verify
        })
    )

    it.effect.each(cases)(
      "tools and instructions are priced as in a chat: %s, stream %s",
      ([model, stream]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const [one, other] = [yield* gateway.customer("1"), yield* gateway.customer("1")]
          const f = {
            name: "f",
            parameters: { type: "object", properties: { a: { type: "string" } } }
          }
          const system = { role: "system", content: "be brief" }
          const user = { role: "user", content: "call it" }
          yield* ask(one, {
            ...talk("", { model, stream }),
            messages: [system, user],
            tools: [{ type: "function", function: f }]
          })
          yield* askResponse(
            other,
            respond([user], {
              model,
              stream,
              instructions: "be brief",
              tools: [{ type: "function", ...f }]
            })
          )
          assert.deepStrictEqual(yield* books(other), yield* books(one))
          yield* gateway.verify
        })
    )

    it.effect.each(cases)("a quote of a response is its hold: %s, stream %s", ([model, stream]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const json = respond("a lighthouse", { model, stream })
        const quote = yield* gateway.call("/v1/quotes", { key: who.key, json })
        assert.strictEqual(quote.status, 200, quote.text)
        yield* askResponse(who, json)
        assert.deepNestedInclude(quote.body, { hold: (yield* latestOrder(who))?.hold })
      })
    )

    it.effect("reasoning that its vendor reads again is held for", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const user = { role: "user", content: "x" }
        const reasoning = {
          type: "reasoning",
          id: "rs_1",
          summary: [],
          encrypted_content: "ab".repeat(1500)
        }
        const holdOf = Effect.fnUntraced(function* (input: ReadonlyArray<object>) {
          yield* askResponse(who, respond(input, { model: "talk-own" }))
          return toNano((yield* latestOrder(who))?.hold ?? "")
        })
        // 3000 bytes are 1000 tokens, at 2 a million.
        const more = (yield* holdOf([reasoning, user])) - (yield* holdOf([user]))
        assert.isTrue(more >= 2_000_000n, String(more))
      })
    )

    it.effect.each(cases)(
      "a vendor that refuses or fails costs nothing: %s, stream %s",
      ([model, stream]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          for (const word of [
            "moderate-input",
            "refuse=404",
            "refuse=402",
            "rate",
            "http500",
            "lost"
          ]) {
            const chat = yield* ask(who, talk(`x sim:${word}`, { model, stream }))
            const answer = yield* askResponse(who, respond(`x sim:${word}`, { model, stream }))
            assert.strictEqual(answer.status, chat.status, answer.text)
            assert.strictEqual((yield* errorOf(answer)).code, (yield* errorOf(chat)).code)
            assert.strictEqual(
              answer.headers.get("x-should-retry"),
              chat.headers.get("x-should-retry")
            )
          }
          assert.deepInclude(yield* gateway.balance(who), { balance: "1", held: "0" })
          yield* gateway.verify
        })
    )

    it.effect.each(
      responseModels.flatMap((model) => [[model, "breaks"] as const, [model, "errors"] as const])
    )(
      "a stream of %s that ends in the middle (%s) is charged for what was written",
      ([model, word]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const prompt = `x sim:${word}=8`
          const answer = yield* askResponse(who, respond(prompt, { model, stream: true }))
          const events = responseEventsIn(answer.text)
          const last = events.at(-1)
          assert.strictEqual(last?.type, "response.failed")
          assert.deepNestedInclude(last, { "response.error.code": "upstream_error" })
          assert.deepStrictEqual(
            events.map(({ sequence_number }) => sequence_number),
            events.map((_, index) => index)
          )
          const text = responseTextIn(answer.text)
          assert.isAbove(text.length, 0)
          assert.deepInclude(yield* latestUsage(who), {
            input: 4 + Math.ceil(prompt.length / 3),
            output: Math.ceil(text.length / 3),
            basis: "formula"
          })
          assert.strictEqual((yield* gateway.balance(who)).held, "0")
          // A response that failed is not stored.
          assert.strictEqual((yield* read(who, last?.response?.id ?? "")).status, 404)
          yield* gateway.verify
        })
    )

    it.effect.each(cases)(
      "an answer of success that cannot be read is charged and says so: %s, stream %s",
      ([model, stream]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const [one, other] = [yield* gateway.customer("1"), yield* gateway.customer("1")]
          const chat = yield* ask(one, talk("x sim:html", { model, stream }))
          const answer = yield* askResponse(other, respond("x sim:html", { model, stream }))
          assert.strictEqual(answer.status, chat.status, answer.text)
          assert.include(answer.text, "is charged")
          assert.deepStrictEqual(yield* books(other), yield* books(one))
          yield* gateway.verify
        })
    )

    it.effect.each(cases)(
      "a key's repeat gets the same response: %s, stream %s",
      ([model, stream]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const json = respond("once", { model, stream })
          const key = { "idempotency-key": "k-1" }
          const first = yield* askResponse(who, json, key)
          const { balance } = yield* gateway.balance(who)
          const again = yield* askResponse(who, json, key)
          assert.strictEqual(again.status, 200, again.text)
          assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
          if (stream) {
            const ends = [first, again].map(({ text }) => responseEventsIn(text).at(-1)?.response)
            assert.deepStrictEqual(ends[1], ends[0])
            assert.strictEqual(responseTextIn(again.text), responseTextIn(first.text))
          } else assert.strictEqual(again.text, first.text)
          assert.strictEqual((yield* gateway.balance(who)).balance, balance)
          const other = yield* askResponse(who, respond("twice", { model, stream }), key)
          assert.strictEqual(other.status, 422)

          // Nothing but the first answer itself could be repeated where it is not stored.
          const unstored = respond("once", { model, stream, store: false })
          yield* askResponse(who, unstored, { "idempotency-key": "k-2" })
          const told = yield* askResponse(who, unstored, { "idempotency-key": "k-2" })
          assert.strictEqual(told.status, stream ? 409 : 200)
          yield* gateway.verify
        })
    )

    it.effect("responses of another organisation are as if there were none", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const [one, other] = [yield* gateway.customer("1"), yield* gateway.customer("1")]
        const response = yield* made(one, respond("a secret"))
        const [item] = response.output
        for (const path of [response.id, `${response.id}/input_items`, "resp_none"]) {
          const answer = yield* read(other, path)
          assert.strictEqual(answer.status, 404, answer.text)
        }
        const deletion = { method: "DELETE" as const, key: other.key }
        const removed = yield* gateway.call(`/v1/responses/${response.id}`, deletion)
        assert.strictEqual(removed.status, 404)
        const continued = yield* askResponse(
          other,
          respond("go on", { previous_response_id: response.id })
        )
        assert.strictEqual((yield* errorOf(continued)).param, "previous_response_id")
        const referring = [
          { type: "item_reference", id: item?.id },
          { role: "user", content: "x" }
        ]
        const referred = yield* askResponse(other, respond(referring))
        assert.strictEqual((yield* errorOf(referred)).param, "input[0].id")
        assert.deepInclude(yield* gateway.balance(other), { balance: "1", held: "0" })
        assert.strictEqual((yield* askResponse(one, respond(referring))).status, 200)
        assert.notInclude(yield* databaseText, "a secret")
        yield* gateway.verify
      })
    )

    it.effect("a conversation goes on at another vendor, and ends with what it continues", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const reasoning = { effort: "low" }
        const first = yield* made(who, respond("one", { model: "talk-own", reasoning }))
        const second = yield* made(
          who,
          respond("two", { reasoning, previous_response_id: first.id })
        )
        yield* gateway.simulator.clearRequests
        const third = yield* made(
          who,
          respond(
            [
              { role: "user", content: "three" },
              { role: "user", content: "or four" }
            ],
            { model: "talk-own", previous_response_id: second.id }
          )
        )
        const [sent] = yield* gateway.simulator.requests
        const body = JSON.stringify(sent?.body)
        // Everything that was said before, and no reasoning but what its vendor encrypted.
        for (const said of ["one", "two", "three"]) assert.include(body, `"${said}"`)
        assert.include(body, "encrypted_content")
        assert.notInclude(body, "reasoning_text")
        assert.notInclude(body, first.id)

        const listed = yield* read(who, `${third.id}/input_items?order=asc&limit=1`)
        assert.deepNestedInclude(listed.body, { "data[0].content": "three", has_more: true })

        const deletion = { method: "DELETE" as const, key: who.key }
        const removed = yield* gateway.call(`/v1/responses/${first.id}`, deletion)
        assert.deepStrictEqual(removed.body, { id: first.id, object: "response", deleted: true })
        const before = (yield* gateway.simulator.book).length
        const { balance } = yield* gateway.balance(who)
        const gone = yield* askResponse(who, respond("four", { previous_response_id: third.id }))
        assert.strictEqual(gone.status, 400)
        assert.strictEqual((yield* errorOf(gone)).param, "previous_response_id")
        assert.strictEqual((yield* read(who, third.id)).status, 200)
        assert.strictEqual((yield* gateway.simulator.book).length, before)
        assert.deepInclude(yield* gateway.balance(who), { balance, held: "0" })
      })
    )

    it.effect("a model that cannot be ordered is refused before its conversation is read", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const previous_response_id = "resp_none"
        for (const [model, code] of [
          ["nope", "model_not_found"],
          ["paint-1", "modality_mismatch"]
        ]) {
          const answer = yield* askResponse(who, respond("x", { model, previous_response_id }))
          assert.strictEqual((yield* errorOf(answer)).code, code)
        }
      })
    )

    it.effect.each([[false], [true]] as const)(
      "encrypted reasoning goes back to its own vendor's account alone: stream %s",
      ([stream]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const order = { model: "talk-own", stream, reasoning: { effort: "low" } }
          const answer = yield* askResponse(who, respond("one", order))
          assert.strictEqual(answer.status, 200, answer.text)
          const first = stream
            ? responseEventsIn(answer.text).at(-1)?.response
            : yield* bodyAs(ResponseBody, answer)
          const { id, output } = first ?? assert.fail("no response")
          const [reasoning] = output.filter(({ type }) => type === "reasoning")
          const text = String(reasoning?.encrypted_content)
          const encrypted = text.slice(text.indexOf(".") + 1)
          assert.notStrictEqual(encrypted, text)
          if (stream) assert.notInclude(answer.text, `"encrypted_content":"${encrypted}`)

          const user = { role: "user", content: "two" }
          /** The reasoning that the vendor gets with an order. */
          const sentWith = Effect.fnUntraced(function* (customer: Customer, json: object) {
            yield* gateway.simulator.clearRequests
            const next = yield* askResponse(customer, json)
            assert.strictEqual(next.status, 200, next.text)
            const [request] = yield* gateway.simulator.requests
            return [
              ...JSON.stringify(request?.body).matchAll(/"encrypted_content":"([^"]*)"/g)
            ].map(([, blob]) => blob)
          })
          const stored = (model: string) =>
            respond([user], { model, stream, previous_response_id: id })
          const replayed = (model: string, items: ReadonlyArray<object> = output) =>
            respond([...items, user], { model, stream, store: false })
          assert.deepStrictEqual(yield* sentWith(who, stored("talk-own")), [encrypted])
          assert.deepStrictEqual(yield* sentWith(who, stored("talk-other")), [])
          assert.deepStrictEqual(yield* sentWith(who, stored("talk-1")), [])
          assert.deepStrictEqual(yield* sentWith(who, replayed("talk-own")), [encrypted])
          assert.deepStrictEqual(yield* sentWith(who, replayed("talk-other")), [])
          const stranger = yield* gateway.customer("1")
          assert.deepStrictEqual(yield* sentWith(stranger, replayed("talk-own")), [])
          const unnamed = [{ ...reasoning, encrypted_content: encrypted }]
          assert.deepStrictEqual(yield* sentWith(who, replayed("talk-own", unnamed)), [])
          yield* gateway.verify
        })
    )

    it.effect("an expired response is found no more, and its row goes", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const { id } = yield* made(who, respond("soon gone"))
        const sql = yield* SqlClient.SqlClient
        yield* Effect.orDie(sql`UPDATE responses SET expires_at = now() WHERE id = ${id}`)
        assert.strictEqual((yield* read(who, id)).status, 404)
        const continued = yield* askResponse(who, respond("x", { previous_response_id: id }))
        assert.strictEqual((yield* errorOf(continued)).param, "previous_response_id")
        yield* (yield* StoredResponses).removeExpired
        const rows = yield* Effect.orDie(sql`SELECT id FROM responses WHERE id = ${id}`)
        assert.lengthOf(rows, 0)
      })
    )

    it.effect("what is not paid for, or not allowed, is refused before a hold", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const before = (yield* gateway.simulator.book).length
        const codeFor = (who: Customer, json: object) =>
          Effect.flatMap(askResponse(who, json), (answer) =>
            Effect.map(errorOf(answer), ({ code }) => `${answer.status} ${code}`)
          )
        for (const model of responseModels) {
          const json = respond("hello", { model })
          const poor = yield* gateway.customer("0.0001")
          assert.strictEqual(yield* codeFor(poor, json), "402 insufficient_balance")
          const capped = yield* gateway.customer("1", { monthlyCap: "0.0001" })
          assert.strictEqual(yield* codeFor(capped, json), "429 member_cap_exceeded")
          const noChats = yield* gateway.customer("1", { key: { scopes: ["images"] } })
          assert.include(yield* codeFor(noChats, json), "403 ")
          const others = yield* gateway.customer("1", { key: { models: ["paint-1"] } })
          assert.notInclude(yield* codeFor(others, json), "200")
          const who = yield* gateway.customer("1")
          for (const fields of [
            { n: 2 },
            { modalities: ["audio"] },
            { service_tier: "priority" },
            { tools: [{ type: "web_search" }] },
            { background: true },
            { max_completion_tokens: 1 }
          ]) {
            assert.strictEqual(yield* codeFor(who, { ...json, ...fields }), "400 invalid_request")
          }
          const disabled = yield* gateway.customer("1")
          const changed = yield* gateway.admin(`/organizations/${disabled.organizationId}`, {
            method: "PATCH",
            json: { enabled: false }
          })
          assert.strictEqual(changed.status, 200, changed.text)
          assert.notInclude(yield* codeFor(disabled, json), "200")
        }
        assert.include(
          yield* codeFor(yield* gateway.customer("1"), respond("x", { model: "talk-unpriced" })),
          "400 billing_unavailable"
        )
        assert.include(
          yield* codeFor(yield* gateway.customer("1"), respond("x", { model: "vector-1" })),
          "400 modality_mismatch"
        )
        const file = { type: "input_file", file_url: "https://media.test/a.pdf" }
        const who = yield* gateway.customer("1000")
        const withFile = respond([{ role: "user", content: [file] }])
        const refused = yield* errorOf(yield* askResponse(who, withFile))
        assert.strictEqual(refused.param, "input[0].content[0].file_url")
        assert.strictEqual((yield* gateway.simulator.book).length, before)
        const taken = yield* askResponse(who, { ...withFile, model: "talk-own" })
        assert.strictEqual(taken.status, 200, taken.text)
        yield* gateway.verify
      })
    )

    it.effect("a client that leaves changes nothing: the rest is read, charged and stored", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const vendor = yield* heldVendor
        const who = yield* gateway.customer("1")
        const abort = new AbortController()
        const answer = yield* Effect.forkChild(
          Effect.promise(() =>
            fetch(`${gateway.url}/v1/responses`, {
              method: "POST",
              headers: { authorization: `Bearer ${who.key}`, "content-type": "application/json" },
              body: JSON.stringify(respond("hello", { model: "talk-held", stream: true })),
              signal: abort.signal
            })
          )
        )
        yield* vendor.write(chunkOf("first"))
        const { body } = yield* Fiber.join(answer)
        const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
        let text = ""
        while (!text.includes("first")) {
          text += (yield* Effect.promise(async () => reader?.read()))?.value ?? ""
        }
        abort.abort()
        yield* vendor.write(chunkOf(" second"))
        yield* vendor.write(counted(10, 20))
        yield* vendor.end
        yield* gateway
          .balance(who)
          .pipe(
            Effect.delay("20 millis"),
            Effect.repeat({ until: ({ held }) => held === "0" }),
            Effect.timeout("20 seconds")
          )
        assert.strictEqual((yield* gateway.balance(who)).balance, "0.99982")
        const id = /"id":"(resp_\w+)"/.exec(text)?.[1] ?? ""
        const stored = yield* read(who, id)
        assert.deepNestedInclude(stored.body, {
          status: "completed",
          "output[0].content[0].text": "first second",
          "usage.total_tokens": 30
        })
        yield* gateway.verify
      })
    )
  })
}

layer(
  layerTestGateway(
    "embedded",
    { ...quickSettings, bodyBudgetBytes: 2 * 1024 * 1024 },
    { catalogFor: responsesCatalog() }
  ),
  { excludeTestServices: true, timeout: "60 seconds" }
)("the memory of stored conversations", (it) => {
  it.effect("is bounded for each organisation, and free again when the order is answered", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const vendor = yield* heldVendor
      const who = yield* gateway.customer("100")
      const { id } = yield* made(who, respond("x".repeat(300_000)))
      const more = { previous_response_id: id }
      const running = yield* Effect.forkChild(
        askResponse(who, respond("two", { ...more, model: "talk-held", stream: true }))
      )
      yield* vendor.write(chunkOf("first"))

      const refused = yield* askResponse(who, respond("three", more))
      assert.strictEqual(refused.status, 503, refused.text)
      assert.strictEqual((yield* errorOf(refused)).code, "overloaded")
      assert.strictEqual(refused.headers.get("retry-after"), "1")
      // Conversations of other organisations and small ones have room.
      const other = yield* gateway.customer("100")
      const { id: otherId } = yield* made(other, respond("x".repeat(300_000)))
      yield* made(other, respond("two", { previous_response_id: otherId }))
      const { id: shortId } = yield* made(who, respond("short"))
      yield* made(who, respond("two", { previous_response_id: shortId }))

      yield* vendor.write(counted(10, 20))
      yield* vendor.end
      assert.strictEqual((yield* Fiber.join(running)).status, 200)
      yield* askResponse(who, respond("three", more)).pipe(
        Effect.delay("20 millis"),
        Effect.repeat({ until: ({ status }) => status === 200 }),
        Effect.timeout("20 seconds")
      )
      yield* gateway.verify
    })
  )

  it.effect("is refused to items that are stored in more than an order may repeat", () =>
    Effect.gen(function* () {
      const who = yield* Effect.flatMap(Gateway, (gateway) => gateway.customer("1000"))
      const text = "x".repeat(900_000)
      const ids = Array.from({ length: 40 }, (_, index) => `msg_${index}`)
      for (const id of ids) {
        yield* made(who, respond([{ type: "message", id, role: "user", content: text }]))
      }
      const references = (count: number) =>
        ids.slice(0, count).map((id) => ({ type: "item_reference", id }))
      const refused = yield* askResponse(who, respond(references(40)))
      assert.strictEqual(refused.status, 400, refused.text)
      assert.strictEqual((yield* errorOf(refused)).param, "input")
      yield* made(who, respond(references(2)))
    })
  )
})

layer(
  layerTestGateway(
    "embedded",
    { ...quickSettings, organizationListQueue: 0 },
    { catalogFor: responsesCatalog() }
  ),
  { excludeTestServices: true, timeout: "60 seconds" }
)("a gateway on which no read may wait", (it) => {
  it.effect("refuses to go on with a conversation, and asks no vendor", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1")
      const { id } = yield* made(who, respond("one"))
      const calls = (yield* gateway.simulator.requests).length
      const refused = yield* askResponse(who, respond("two", { previous_response_id: id }))
      assert.strictEqual(refused.status, 429, refused.text)
      assert.strictEqual(refused.headers.get("retry-after"), "1")
      assert.lengthOf(yield* gateway.simulator.requests, calls)
    })
  )
})
