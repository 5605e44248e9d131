import { assert, describe, it } from "@effect/vitest"
import { Redacted, Schema } from "effect"
import { CatalogDocument, CatalogWrite } from "../../../src/domain/catalog/CatalogDocument.ts"

const channel = { id: "ch-a", name: "Vendor A", base_url: "http://127.0.0.1:8081/vp_a" }
const model = { id: "film-1", modality: "video", protocol: "vp_a" }
const mount = { model: "film-1", channel: "ch-a" }

const decode = Schema.decodeUnknownSync(CatalogWrite)
const decodeChannel = (fields: Readonly<Record<string, unknown>>) =>
  decode({ channels: [{ ...channel, ...fields }], models: [], mounts: [] })
const decodeModel = (fields: Readonly<Record<string, unknown>>) =>
  decode({ channels: [], models: [{ ...model, ...fields }], mounts: [] })
const decodeMount = (fields: Readonly<Record<string, unknown>>) =>
  decode({ channels: [], models: [], mounts: [{ ...mount, ...fields }] })

describe("a catalog document", () => {
  it("fills in what an operator may leave out", () => {
    assert.deepStrictEqual(decode({ channels: [channel], models: [model], mounts: [mount] }), {
      channels: [{ ...channel, app_id: null, enabled: true }],
      models: [
        {
          id: "film-1",
          modality: "video",
          protocol: "vp_a",
          owned_by: "media-gateway",
          input_forms: []
        }
      ],
      mounts: [
        { ...mount, protocol: null, upstream_model: null, priority: 0, weight: 1, enabled: true }
      ]
    })
  })

  it("keeps what an operator wrote", () => {
    const written = {
      channels: [{ ...channel, app_id: "app-7", enabled: false }],
      models: [
        {
          ...model,
          owned_by: "vendor-a",
          input_forms: ["text", "image"],
          prices: { kind: "token_video", per_million_tokens: { base: { without_video: "46" } } }
        }
      ],
      mounts: [
        {
          ...mount,
          protocol: "vp_c",
          upstream_model: "vendor-film-1",
          priority: 2,
          weight: 30,
          enabled: false
        }
      ]
    }
    const read = Schema.decodeUnknownSync(CatalogDocument)(written)
    const encode: (catalog: CatalogDocument) => unknown = Schema.encodeSync(CatalogDocument)
    assert.deepStrictEqual(encode(read), written)
  })

  it.each(["channels", "models", "mounts"])("needs its list of %s", (list) => {
    const lists = { channels: [], models: [], mounts: [] }
    assert.throws(() => decode({ ...lists, [list]: undefined }), `["${list}"]`)
    assert.throws(() => decode({ ...lists, [list]: {} }), `["${list}"]`)
  })
})

describe("a channel's key", () => {
  it("is redacted as soon as it is read", () => {
    const [written] = decodeChannel({ api_key: "secret-of-a" }).channels
    assert(written?.api_key !== undefined && written.api_key !== null)
    assert.strictEqual(Redacted.value(written.api_key), "secret-of-a")
    assert.notInclude(JSON.stringify(written), "secret-of-a")
    assert.notInclude(String(written.api_key), "secret-of-a")
  })

  it("is absent or null where it was not written, which keeps the stored one", () => {
    assert.isNull(decodeChannel({ api_key: null }).channels[0]?.api_key)
    assert.notProperty(decodeChannel({}).channels[0], "api_key")
  })

  it.each([
    "",
    7,
    " key",
    "key ",
    "key\u00a0",
    "\tkey",
    "a\nb",
    "a\r\nx-other: b",
    "a\u0000b",
    "a\u0085b",
    "a\u007fb",
    "clé\u0301",
    "密钥",
    "key\u200b",
    "\ud800",
    "k".repeat(4097)
  ])("is refused as %j", (key) => {
    assert.throws(() => decodeChannel({ api_key: key }), `["api_key"]`)
  })

  it.each(["sk-123", "clé", "two words", "k".repeat(4096)])("may be %s", (key) => {
    const [written] = decodeChannel({ api_key: key }).channels
    assert(written?.api_key !== undefined && written.api_key !== null)
    assert.strictEqual(Redacted.value(written.api_key), key)
    assert.isTrue(new Headers({ authorization: `Bearer ${key}` }).has("authorization"))
  })

  it("is no part of the stored document", () => {
    const stored = Schema.decodeUnknownSync(CatalogDocument)({
      channels: [{ ...channel, api_key: "secret-of-a" }],
      models: [],
      mounts: []
    })
    assert.notProperty(stored.channels[0], "api_key")
  })
})

describe("a channel", () => {
  it.each(["https://vendor.example", "HTTP://vendor.example:8080/api/v1", "http://[::1]:9/"])(
    "may live at %s",
    (address) => {
      assert.strictEqual(decodeChannel({ base_url: address }).channels[0]?.base_url, address)
    }
  )

  it.each([
    ["base_url", ""],
    ["base_url", "vendor.example"],
    ["base_url", "ftp://vendor.example"],
    ["base_url", "https://"],
    ["base_url", "https://user:word@vendor.example"],
    ["base_url", "https://vendor.example/?key=1"],
    ["base_url", "https://vendor.example/#top"],
    ["base_url", "https://vendor.example/a b"],
    ["base_url", " https://vendor.example"],
    ["base_url", "https://vendor.example\r\nhost: x"],
    ["base_url", "https:///vendor.example"],
    ["base_url", "https:\\\\vendor.example"],
    ["base_url", "https://vendor.example\\@other.example"],
    ["base_url", "https://vendor.example:0"],
    ["base_url", "https://vendor.example:99999"],
    ["base_url", "https://vendor.example:port"],
    ["base_url", "https://[::1"],
    ["base_url", "https://1.2.3.400"],
    ["base_url", "https://ven%2Fdor.example"],
    ["id", ""],
    ["id", "-a"],
    ["id", "a b"],
    ["id", "a".repeat(129)],
    ["name", ""],
    ["app_id", ""],
    ["app_id", " app"],
    ["app_id", "app\r\nx: y"],
    ["app_id", "应用"],
    ["allow_private", "yes"],
    ["enabled", "yes"]
  ])("is refused when %s is %j", (field, value) => {
    assert.throws(() => decodeChannel({ [field]: value }), `["channels"][0]["${field}"]`)
  })
})

describe("a stored channel", () => {
  it.each([
    ["base_url", "https://vendor.example:0"],
    ["base_url", "https://[::1"],
    ["base_url", "vendor.example"],
    ["app_id", "应用"],
    ["app_id", " app"]
  ])("is read also when %s is %j, which is not written any more", (field, value) => {
    const catalog = { channels: [{ ...channel, [field]: value }], models: [model], mounts: [mount] }
    assert.throws(() => decode(catalog))
    const stored = Schema.decodeUnknownSync(CatalogDocument)(catalog)
    assert.propertyVal(stored.channels[0], field, value)
  })
})

describe("a model", () => {
  it.each(["a", "film-1", "vendor/film:2.6_pro", "a".repeat(128)])("may be called %s", (id) => {
    assert.strictEqual(decodeModel({ id }).models[0]?.id, id)
  })

  it("may speak a protocol the gateway does not know yet", () => {
    assert.strictEqual(decodeModel({ protocol: "vp_z" }).models[0]?.protocol, "vp_z")
  })

  it.each([
    ["modality", "film"],
    ["modality", "language"],
    ["protocol", ""],
    ["protocol", "VP_A"],
    ["protocol", "vp-a"],
    ["protocol", null],
    ["aliases", "sora-2"],
    ["aliases", [""]],
    ["aliases", ["sora 2"]],
    ["input_forms", "text"],
    ["input_forms", [""]],
    ["owned_by", ""],
    ["prices", null]
  ])("is refused when %s is %j", (field, value) => {
    assert.throws(() => decodeModel({ [field]: value }), `["models"][0]["${field}"]`)
  })

  it("is refused with an inexact price, by its path", () => {
    assert.throws(
      () => decodeModel({ prices: { kind: "tokens", per_million_input: "0.0001" } }),
      `["models"][0]["prices"]["per_million_input"]`
    )
  })
})

describe("a mount", () => {
  it.each([
    ["model", ""],
    ["channel", null],
    ["protocol", ""],
    ["upstream_model", ""],
    ["enabled", 1]
  ])("is refused when %s is %j", (field, value) => {
    assert.throws(() => decodeMount({ [field]: value }), `["mounts"][0]["${field}"]`)
  })
})
