import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { builtInProtocols } from "../../../src/domain/catalog/ProtocolTables.ts"
import { imageProtocols } from "../../../src/domain/image/ImageProtocol.ts"
import { ImageBody, imageCount } from "../../../src/domain/image/ImageRequest.ts"

const decode = (fields: Readonly<Record<string, unknown>>) =>
  Schema.decodeUnknownSync(ImageBody)({ model: "paint-1", prompt: "a cat", ...fields })

describe("an image request", () => {
  it.each([
    [{}, 1],
    [{ n: null }, 1],
    [{ n: 1 }, 1],
    [{ n: 7 }, 7],
    [{ n: 10 }, 10]
  ])("with %j orders %d", (fields, count) => {
    assert.strictEqual(imageCount(decode(fields)), count)
  })

  it.each([
    ["n", 0],
    ["n", 11],
    ["n", -1],
    ["n", 1.5],
    ["n", "2"],
    ["model", ""],
    ["prompt", ""],
    ["prompt", null],
    ["size", ""],
    ["response_format", "base64"],
    ["stream", true],
    ["stream", "true"],
    ["stream", 1],
    ["partial_images", 1],
    ["partial_images", "0"],
    ["image", "cat.png"],
    ["images", [{ href: "https://media.example/1" }]],
    ["image_url", 7]
  ])("is refused when %s is %j", (field, value) => {
    assert.throws(() => decode({ [field]: value }), `["${field}"]`)
  })

  it("keeps the fields that belong to the vendor", () => {
    const body = decode({ quality: "high", seed: 7, nested: { deep: [1] } })
    assert.deepInclude(body, { quality: "high", seed: 7, nested: { deep: [1] } })
  })
})

describe("the image protocols", () => {
  it("are three, and two pass on what the gateway does not know", () => {
    assert.deepStrictEqual(imageProtocols, {
      ip_a: { passesOn: [""] },
      ip_b: { passesOn: [] },
      ip_c: { passesOn: ["doubao"] }
    })
  })

  it("are recognised by their exact names", () => {
    assert.deepStrictEqual([...builtInProtocols.image.keys()], ["ip_a", "ip_b", "ip_c"])
    for (const name of ["ip_d", "IP_A", "vp_a", "toString", ""]) {
      assert.isFalse(builtInProtocols.image.has(name))
    }
  })
})
