import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { toDecimal, toNano } from "../support/amounts.ts"
import { brokenVendor } from "../support/brokenVendor.ts"
import { databasesInTurn } from "../support/databases.ts"
import { databaseText } from "../support/databaseText.ts"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { respond } from "../support/responses.ts"
import { dataOf, talk, textCatalog, textOf } from "../support/textCatalog.ts"
import { ask, latestUsage } from "../support/texts.ts"

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor: textCatalog() }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`chat and embeddings that fail (${kind})`, (it) => {
    it.effect.each([
      ["sim:moderate-input", 400, null],
      ["sim:refuse=404", 404, null],
      ["sim:refuse=402", 502, "false"],
      ["sim:rate", 503, null],
      ["sim:http500", 502, "false"],
      ["sim:lost", 502, "false"],
      ["sim:redirect", 502, "false"]
    ] as const)(
      "%s answers %i in JSON and costs nothing, as a stream too",
      ([word, status, shouldRetry]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          for (const stream of [false, true]) {
            const answer = yield* ask(who, talk(`x ${word}`, { stream }))
            assert.strictEqual(answer.status, status, answer.text)
            assert.deepNestedInclude(answer.body, {
              "error.code": "upstream_error",
              "error.param": null
            })
            assert.strictEqual(answer.headers.get("x-should-retry"), shouldRetry)
          }
          assert.deepInclude(yield* gateway.balance(who), { balance: "1", held: "0" })
          yield* gateway.verify
        })
    )

    it.effect.each(["breaks", "errors"] as const)(
      "a stream that ends in the middle (%s) is charged for what had been written",
      (word) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const prompt = `x sim:${word}=4`
          const answer = yield* ask(who, talk(prompt, { stream: true }))
          const data = dataOf(answer.text)
          const last: unknown = JSON.parse(data.at(-1) ?? "")
          assert.deepNestedInclude(last, {
            "error.code": "upstream_error",
            "error.type": "upstream_error",
            "error.param": null
          })
          const text = textOf(data)
          assert.isAbove(text.length, 0)
          assert.deepInclude(yield* latestUsage(who), {
            input: 4 + Math.ceil(prompt.length / 3),
            output: Math.ceil(text.length / 3),
            basis: "formula"
          })
          yield* gateway.verify
        })
    )

    it.effect("a stream that tells an error before a word was written costs nothing", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const begun = yield* ask(who, talk("x sim:errors=1", { stream: true }))
        assert.strictEqual(begun.status, 200)
        assert.include(dataOf(begun.text).at(-1), '"code":"upstream_error"')
        const none = yield* ask(who, talk("x sim:errors=0", { stream: true }))
        assert.strictEqual(none.status, 502, none.text)
        assert.deepInclude(yield* gateway.balance(who), { balance: "1", held: "0" })
        yield* gateway.verify
      })
    )

    it.effect("a stream that breaks off before a word was written is charged for what came", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const begun = yield* ask(who, talk("x sim:breaks=1", { stream: true }))
        assert.strictEqual(begun.status, 200)
        assert.include(dataOf(begun.text).at(-1), "is charged")
        const { basis, charge } = (yield* latestUsage(who)) ?? {}
        assert.strictEqual(basis, "unread_answer")
        const left = toDecimal(toNano("1") - toNano(charge ?? ""))
        assert.deepInclude(yield* gateway.balance(who), { balance: left, held: "0" })
        // Here nothing came of an answer.
        const none = yield* ask(who, talk("x sim:breaks=0", { stream: true }))
        assert.strictEqual(none.status, 502, none.text)
        assert.deepInclude(yield* gateway.balance(who), { balance: left, held: "0" })
        yield* gateway.verify
      })
    )

    it.effect.each([false, true])(
      "an answer of success that cannot be read is charged and says so (stream: %s)",
      (stream) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const answer = yield* ask(who, talk("x sim:html", { stream, max_tokens: 100 }))
          assert.strictEqual(answer.status, 502, answer.text)
          assert.strictEqual(answer.headers.get("x-should-retry"), "false")
          const { balance } = yield* gateway.balance(who)
          const charge = toDecimal(toNano("1") - toNano(balance))
          const receipts = /GET (\/v1\/usage\/\S+)/.exec(answer.text)
          assert.include(answer.text, `is charged ${charge} CNY by the formula`)
          const receipt = yield* gateway.call(receipts?.[1] ?? "", { key: who.key })
          assert.deepNestedInclude(receipt.body, { charge, basis: "unread_answer" })
          assert.include(receipt.text, "answered with success and its answer could not be read")
          const orphans = yield* gateway.admin(`/orphans?organization_id=${who.organizationId}`)
          assert.deepNestedInclude(orphans.body, {
            "data[0].reason": "unread_answer",
            "data[0].charge": charge,
            "data[0].answer.status": 200
          })
          yield* gateway.verify
        })
    )

    it.effect.each([
      ["/v1/chat/completions", (text: string) => talk(text, { model: "talk-held" })],
      [
        "/v1/chat/completions as a stream",
        (text: string) => talk(text, { model: "talk-held", stream: true })
      ],
      ["/v1/responses", (text: string) => respond(text, { model: "talk-held" })],
      [
        "/v1/responses as a stream",
        (text: string) => respond(text, { model: "talk-held", stream: true })
      ],
      ["/v1/messages", (text: string) => talk(text, { model: "talk-held", max_tokens: 100 })],
      [
        "/v1/messages as a stream",
        (text: string) => talk(text, { model: "talk-held", max_tokens: 100, stream: true })
      ],
      ["/v1/embeddings", (input: string) => ({ model: "vector-held", input })]
    ] as const)("a refusal that quotes what %s was sent is kept without it", ([name, orderOf]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const vendor = yield* brokenVendor(({ body }) => ({
          status: 400,
          body: { error: { message: `Not this: ${body}` } }
        }))
        yield* gateway.admin("/catalog", {
          method: "PUT",
          json: textCatalog(vendor.url)(gateway.simulator.url)
        })
        const who = yield* gateway.customer("1")
        const said = "a letter nobody else should read"
        const path = name.split(" ")[0] ?? ""
        const options = {
          key: who.key,
          json: orderOf(said),
          headers: { "idempotency-key": "k-quoted" }
        }
        const first = yield* gateway.call(path, options)
        assert.strictEqual(first.status, 400)
        assert.include(first.text, said)
        assert.notInclude(yield* databaseText, said)
        const again = yield* gateway.call(path, options)
        assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
        assert.deepNestedInclude(again.body, {
          "error.code": "upstream_error",
          "error.upstream": { status: 400, body: null }
        })
        assert.include(again.text, "Not this:")
        assert.notInclude(again.text, said)
        yield* gateway.verify
      })
    )
  })
}
