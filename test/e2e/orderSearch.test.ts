/** Orders found over HTTP by all that may be known of them: their prompts, their vendors' ids, their notes. */
import { createHash } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TaskEntryView } from "../../src/features/usage/OrderListsApi.ts"
import { OrderView } from "../../src/http/api/orderViews.ts"
import { list } from "../../src/http/api/shared.ts"
import { sumOf, toDecimal, toNano } from "../support/amounts.ts"
import { databasesInTurn } from "../support/databases.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { createVideo, errorOf, finishVideo, orderImages, orderVideo } from "../support/orders.ts"
import { talk, textCatalog } from "../support/textCatalog.ts"
import { ask } from "../support/texts.ts"

const Totals = Schema.Struct({
  count: Schema.Int,
  processing: Schema.Int,
  succeeded: Schema.Int,
  failed: Schema.Int,
  held: Schema.String,
  charge: Schema.String,
  returned: Schema.String
})
const more = { next: Schema.NullOr(Schema.String), totals: Schema.optionalKey(Totals) }
const Orders = Schema.Struct({ ...list(OrderView).fields, ...more })
const Tasks = Schema.Struct({ ...list(TaskEntryView).fields, ...more })

const digestOf = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 12)

const PROMPT = "a lighthouse at dusk, canary-of-lists"

/** Newest first: a text, three images with a note, a running video, a failed one, and a finished one. */
const business = Effect.fnUntraced(function* (who: Customer) {
  const done = yield* createVideo(who, { model: "film-1", prompt: `${PROMPT} --dur 5` })
  yield* finishVideo(who, done)
  const failed = yield* createVideo(who, { model: "film-1", prompt: "x sim:fail" })
  yield* finishVideo(who, failed)
  const running = yield* createVideo(who, { model: "clip-1", prompt: "x sim:takes=3600" })
  yield* orderImages(who, { model: "paint-1", n: 3, prompt: PROMPT, metadata: { team: "red" } })
  yield* ask(who, talk(PROMPT))
  // Refused before a hold: no order.
  yield* orderVideo(who, { model: "film-1", duration: 100 })
  return { done, failed, running }
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor: textCatalog() }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`looking for orders (${kind})`, (it) => {
    it.effect("find orders of every kind, and come to what stands in the books", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const { done, failed, running } = yield* business(who)
        const own = `organization_id=${who.organizationId}`
        const ordersBy = (query: string) =>
          Effect.flatMap(gateway.admin(`/orders?${query}`), (answer) => bodyAs(Orders, answer))
        const tasksBy = (query: string) =>
          Effect.flatMap(gateway.admin(`/tasks?${query}`), (answer) => bodyAs(Tasks, answer))

        const { data, totals } = yield* ordersBy(`${own}&totals=true`)
        assert.deepStrictEqual(
          data.map(({ kind, model, state }) => [kind, model, state]),
          [
            ["text", "talk-1", "succeeded"],
            ["image", "paint-1", "succeeded"],
            ["video", "clip-1", "processing"],
            ["video", "film-1", "failed"],
            ["video", "film-1", "succeeded"]
          ]
        )
        const charged = toDecimal(sumOf(data.map(({ charge }) => toNano(charge))))
        assert.deepInclude(totals, { count: 5, processing: 1, succeeded: 3, failed: 1 })
        assert.strictEqual(totals?.charge, charged)
        const { held, balance } = yield* gateway.balance(who)
        assert.strictEqual(totals?.held, held)
        assert.strictEqual(toDecimal(toNano("100") - toNano(charged)), balance)

        const [text, image] = data
        assert.deepInclude(image, { channel: "ch-i", metadata: { team: "red" }, is_task: false })
        assert.strictEqual(image?.prompt_digest, digestOf(PROMPT))
        assert.isNull(text?.prompt_digest)
        const idsBy = (query: string) =>
          Effect.map(ordersBy(query), ({ data }) => data.map(({ id }) => id))
        // The flag in its text is not the vendor's.
        assert.deepStrictEqual(yield* idsBy(`${own}&prompt_digest=${digestOf(PROMPT)}`), [
          image?.id ?? "",
          done
        ])
        assert.deepStrictEqual(yield* idsBy(`${own}&state=processing`), [running])
        assert.deepStrictEqual(yield* idsBy(`${own}&model=film-1&state=failed`), [failed])
        assert.deepStrictEqual(yield* idsBy(`${own}&tag=team%3Dred`), [image?.id ?? ""])
        assert.deepStrictEqual(yield* idsBy(`member_id=${who.memberId}&channel=ch-d`), [running])
        const upstream = data.find(({ id }) => id === done)?.upstream_id ?? ""
        assert.deepStrictEqual(yield* idsBy(`upstream_id=${encodeURIComponent(upstream)}`), [done])
        const today = new Date().toISOString().slice(0, 10)
        assert.lengthOf(yield* idsBy(`${own}&from=${today}&to=${today}`), 5)
        assert.lengthOf(yield* idsBy(`${own}&to=2020-01-01`), 0)

        const tasks = yield* tasksBy(own)
        assert.deepStrictEqual(
          tasks.data.map(({ id, task_state }) => [id, task_state]),
          [
            [running, "processing"],
            [failed, "failed"],
            [done, "succeeded"]
          ]
        )
        assert.isNotNull(tasks.data[1]?.error_code)
        const inner = yield* tasksBy(`${own}&task_state=processing`)
        assert.deepStrictEqual(
          inner.data.map(({ id }) => id),
          [running]
        )

        // Page by page it is the same list.
        const paged: Array<string> = []
        let after = ""
        do {
          const page = yield* ordersBy(`${own}&limit=2${after}`)
          paged.push(...page.data.map(({ id }) => id))
          after = page.next === null ? "" : `&after=${page.next}`
        } while (after !== "")
        assert.deepStrictEqual(
          paged,
          data.map(({ id }) => id)
        )
        assert.notInclude(JSON.stringify(data), "canary-of-lists")
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["/orders?prompt_digest=zz", "prompt_digest"],
      ["/orders?totals=true&prompt_digest=0123456789ab", "prompt_digest"],
      ["/orders?limit=1000", "limit"]
    ] as const)("%s is refused, and %s named", ([path, param]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const answer = yield* gateway.admin(path)
        assert.strictEqual(answer.status, 400, answer.text)
        const error = yield* errorOf(answer)
        assert.deepStrictEqual([error.code, error.param], ["invalid_request", param])
      })
    )
  })
}
