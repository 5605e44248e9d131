/**
 * What is priced, checked or set has one spelling on the wire: whatever else a lenient vendor could
 * read as one of these fields is refused before anything is held, by the name of the field meant.
 * PROPERTY_CASES sets how many orders, PROPERTY_SEED repeats a run.
 */
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { checkImages, ImageBody } from "../../src/domain/image/ImageRequest.ts"
import { priceImages } from "../../src/domain/image/pricedImages.ts"
import { diceOf } from "../support/randomOrders.ts"

import {
  CASES,
  complaint,
  drawn,
  family,
  faultOf,
  inWords,
  type Json,
  joined,
  type Kind,
  kinds,
  nanoPrices,
  ownNames,
  paint,
  plain,
  SEED,
  values,
  vendorFields
} from "./spellings.ts"

/** Broken cases that are printed, at most. */
const PRINTED_CASES = 10

describe("a field in another spelling or place", () => {
  it(`is refused by the name of the field meant (PROPERTY_SEED=${SEED})`, () => {
    const broken: Array<string> = []
    for (let index = 0; index < CASES && broken.length < PRINTED_CASES; index++) {
      const seed = SEED + index
      const dice = diceOf(seed)
      const order = drawn(dice, dice.pick(kinds))
      const body = joined(plain[order.kind], order.fields)
      const wrong = complaint(order, faultOf(order.kind, body))
      if (wrong === null) continue
      broken.push(
        `PROPERTY_SEED=${seed} PROPERTY_CASES=1 ${order.field}: ${wrong}: ${inWords(body)}`
      )
    }
    if (broken.length > 0) assert.fail(`\n${broken.join("\n")}\n`)
  })

  it("is refused where a part of its name is separators alone", () => {
    const fault = faultOf("image", { ...paint, "payload[m-o-d-e-l-[-]]": "dear" })
    assert.strictEqual(fault?.path, "payload[m-o-d-e-l-[-]]")
    assert.include(fault?.message, "model is the field for this")
  })

  it("is named as the nested field where the whole name resembles another one", () => {
    const fault = faultOf("edit", joined(plain.edit, { "input.ԛυаӏɪτÿ": "high" }))
    assert.include(fault?.message, "quality is read")
  })

  it.each(kinds)("is refused for every field that is read of %s, first in line or last", (kind) => {
    assert.isAbove(ownNames[kind].length, 2)
    for (const field of ownNames[kind]) {
      const twin = { [field.toUpperCase()]: values[field] ?? "x" }
      for (const body of [joined(plain[kind], twin), joined(twin, plain[kind])]) {
        const fault = faultOf(kind, body)
        assert.strictEqual(fault?.path, field.toUpperCase(), field)
        assert.include(fault?.message, field)
      }
    }
  })
})

// Places and names that stand for no field of the gateway's

const harmless: ReadonlyArray<readonly [Kind, (name: string) => Json]> = [
  ["chat", (name) => ({ metadata: { [name]: "x" } })],
  [
    "chat",
    (name) => ({
      tools: [
        {
          type: "function",
          function: {
            name: "f",
            parameters: { type: "object", properties: { [name]: { type: "string" } } }
          }
        }
      ]
    })
  ],
  [
    "chat",
    (name) => ({
      response_format: {
        type: "json_schema",
        json_schema: { name: "s", schema: { properties: { [name]: {} } } }
      }
    })
  ],
  ["chat", (name) => ({ messages: [{ role: "user", content: `{"${name}": 1}` }] })],
  [
    "chat",
    (name) => ({
      messages: [
        { role: "user", content: [{ type: "text", text: `{"${name}": 1}`, cache: { [name]: 1 } }] },
        { role: "assistant", tool_calls: [{ function: { name, arguments: `{"${name}": 1}` } }] }
      ]
    })
  ],
  ["image", (name) => ({ metadata: { [name]: "x" } })],
  ["image", (name) => ({ prompt: `{"${name}": "x"}` })],
  ["image", (name) => ({ user: `{"${name}": "x"}` })],
  ["embedding", (name) => ({ input: `{"${name}": "x"}` })],
  ["video", (name) => ({ metadata: { [name]: "x" } })]
]

describe("a field of its own name", () => {
  it("is taken where no vendor reads it as the gateway's", () => {
    for (const [kind, fieldsFor] of harmless) {
      for (const name of ownNames[kind].flatMap((own) => [own, own.toUpperCase()])) {
        const body = joined(plain[kind], fieldsFor(name))
        assert.isNull(faultOf(kind, body), inWords(body))
      }
    }
  })

  it.each(vendorFields)("is taken where it resembles none: of %s %j", (kind, fields) => {
    assert.isNull(faultOf(kind, joined(plain[kind], fields)))
  })

  it.each([
    { image_size: "4096x4096" },
    { width: 4096, height: 4096 },
    { aspect_ratio: "16:9", resolution: "4k", image_quality: "hd" }
  ])("may be what others call a size where one price is for all: %j", (fields) => {
    const body = Schema.decodeUnknownSync(ImageBody)(joined(paint, fields))
    const single = { kind: "image", per_image: 1n } as const
    const request = { body, edit: null }
    assert.isTrue(Result.isSuccess(checkImages(request, family)))
    assert.isTrue(Result.isSuccess(priceImages(single, request, family)))
    assert.isTrue(Result.isFailure(priceImages(nanoPrices, request, family)))
    const byQuality = { kind: "image", per_image: { low: { "*": 1n }, high: { "*": 2n } } } as const
    const { image_quality: quality } = { image_quality: null, ...fields }
    assert.strictEqual(Result.isSuccess(priceImages(byQuality, request, family)), quality === null)
  })

  it("is looked for in texts of JSON as far as any order goes, and not beyond", () => {
    for (const text of [
      `[${"[],".repeat(200_000)}[]]`,
      "[".repeat(600_000),
      `{"a":${"[".repeat(999)}${"]".repeat(999)}}`
    ]) {
      const fault = faultOf("image", { ...paint, notes: text })
      assert.strictEqual(
        fault === null,
        text.length < 5000 || text.length === 600_000,
        text.slice(0, 20)
      )
    }
  })
})
