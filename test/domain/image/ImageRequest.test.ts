import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { builtInProtocols } from "../../../src/domain/catalog/ProtocolTables.ts"
import { imageFamilyOf, imageProtocols } from "../../../src/domain/image/ImageProtocol.ts"
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
  it.each([
    ["ip_a", "any-model", true, true, 16],
    ["ip_b", "any-model", false, false, 9],
    ["ip_c", "doubao-1", true, false, 14],
    ["ip_c", "wan-1", false, false, 9]
  ] as const)("%s passes on what it does not know for %s: %s", (name, model, ...expected) => {
    const { passesOn, streams, references } = imageFamilyOf(imageProtocols[name], model)
    assert.deepStrictEqual([passesOn, streams, references?.max], [...expected])
  })

  it("are recognised by their exact names", () => {
    assert.deepStrictEqual(
      [...builtInProtocols.image.keys()],
      ["ip_a", "ip_b", "ip_c", "gemini", "fal", "replicate"]
    )
    for (const name of ["ip_d", "IP_A", "vp_a", "toString", ""]) {
      assert.isFalse(builtInProtocols.image.has(name))
    }
  })
})
