/** Images that are billed by tokens: whole, streamed, edited, in the background, and by liars. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { list, UsageEntry } from "../../src/http/api/shared.ts"
import { toDecimal, toNano } from "../support/amounts.ts"
import { databasesInTurn } from "../support/databases.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings,
  testCatalog
} from "../support/gateway.ts"

const PRICES = {
  kind: "image_tokens",
  per_million_text_input: "5",
  per_million_image_input: "10",
  per_million_image_output: "40",
  most_output_tokens: { low: { "*": 272 }, "*": { "*": 4160 } },
  most_image_input_tokens: 1000
} as const

const catalogFor = (simulatorUrl: string): ReturnType<typeof testCatalog> => {
  const base = testCatalog(simulatorUrl)
  return {
    ...base,
    models: base.models.map((model) =>
      model.id === "paint-1" ? { ...model, prices: PRICES } : model
    )
  }
}

const image = "https://media.test/a.png"

const order = (who: Customer, json: object, path = "generations", headers = {}) =>
  Effect.flatMap(Gateway, (gateway) =>
    gateway.call(`/v1/images/${path}`, {
      key: who.key,
      json: { model: "paint-1", ...json },
      headers
    })
  )

const latest = (who: Customer) =>
  Effect.gen(function* () {
    const gateway = yield* Gateway
    const usage = yield* gateway.call("/v1/usage?limit=1", { key: who.key })
    const { data } = yield* bodyAs(list(UsageEntry), usage)
    return data[0] ?? assert.fail("no usage")
  })

const chargeOf = (text: number, images: number, output: number) =>
  toDecimal(BigInt(text) * 5000n + BigInt(images) * 10_000n + BigInt(output) * 40_000n)

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`images by tokens (${kind})`, (it) => {
    it.effect.each([
      ["an image", { prompt: "a sim:image-tokens=900" }, "generations", 0, 900],
      ["four images", { prompt: "a sim:image-tokens=900", n: 4 }, "generations", 0, 3600],
      [
        "images in base64",
        { prompt: "a sim:image-tokens=900", response_format: "b64_json" },
        "generations",
        0,
        900
      ],
      ["an edit", { prompt: "a sim:image-tokens=900", image }, "edits", 300, 900],
      [
        "a streamed image",
        { prompt: "a sim:image-tokens=900", stream: true },
        "generations",
        0,
        900
      ]
    ] as const)("%s is charged by the vendor's count", ([, json, path, images, output]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const answer = yield* order(who, json, path)
        assert.strictEqual(answer.status, 200, answer.text)
        const used = yield* latest(who)
        assert.deepInclude(used, {
          basis: "upstream_usage",
          unit: "token",
          input: 12 + images,
          output,
          charge: chargeOf(12, images, output)
        })
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["no usage", "a", "formula", false],
      ["too little for an image", "a sim:image-tokens=3", "formula", true],
      ["more than the image can have", "a sim:image-tokens=90000", "largest_plausible", true]
    ] as const)("a vendor that reports %s is bounded by the hold", ([, prompt, basis, isOrphan]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const json = { model: "paint-1", prompt, image, quality: "low" }
        const quote = yield* gateway.call("/v1/quotes", { key: who.key, json })
        assert.deepNestedInclude(quote.body, {
          kind: "image_tokens",
          "inputs.image_tokens": 1000,
          "inputs.output_tokens": 272
        })
        yield* order(who, json)
        const used = yield* latest(who)
        const receipt = yield* gateway.call(`/v1/usage/${used.id}`, { key: who.key })
        assert.deepInclude(used, { basis, output: 272 })
        assert.deepNestedInclude(receipt.body, { hold: (quote.body as { hold: string }).hold })
        assert.isTrue(toNano(used.charge) <= toNano((quote.body as { hold: string }).hold))
        const orphans = yield* gateway.admin(`/orphans?limit=100`)
        assert.strictEqual(orphans.text.includes(used.id.slice("us_".length)), isOrphan)
        yield* gateway.verify
      })
    )

    it.effect("images in the background are charged when they are there", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const json = { prompt: "a sim:image-tokens=900" }
        const accepted = yield* order(who, json, "generations", { prefer: "respond-async" })
        assert.strictEqual(accepted.status, 202, accepted.text)
        const { id } = accepted.body as { id: string }
        yield* gateway.call(`/v1/images/generations/${id}?wait=10`, { key: who.key })
        assert.deepInclude(yield* latest(who), { charge: chargeOf(12, 0, 900) })
        yield* gateway.verify
      })
    )
  })
}
