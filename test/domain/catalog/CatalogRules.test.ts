import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { CatalogDocument } from "../../../src/domain/catalog/CatalogDocument.ts"
import {
  findFaults,
  findWarnings,
  mountProtocol
} from "../../../src/domain/catalog/CatalogRules.ts"
import { DEFAULT_KEY, type StoredKeys } from "../../../src/domain/catalog/channelKeys.ts"
import { originOf } from "../../../src/domain/catalog/origin.ts"
import { builtInProtocols } from "../../../src/domain/catalog/ProtocolTables.ts"

const tokenVideo = {
  kind: "token_video",
  per_million_tokens: { base: { without_video: "46", with_video: "28" } }
}
const secondVideo = { kind: "second_video", per_second: { "720p": "0.6" } }
const perImage = { kind: "image", per_image: "0.2" }
const tokens = { kind: "tokens", per_million_input: "2", per_million_output: "8" }

const channel = (id: string, appId: string | null = null) => ({
  id,
  name: id,
  base_url: `https://${id}.example`,
  app_id: appId
})
const model = (id: string, modality: string, protocol: string, prices?: object) => ({
  id,
  modality,
  protocol,
  ...(prices === undefined ? {} : { prices })
})
const mount = (of: string, on: string, protocol: string | null = null) => ({
  model: of,
  channel: on,
  protocol
})

const catalog = (
  channels: ReadonlyArray<object>,
  models: ReadonlyArray<object>,
  mounts: ReadonlyArray<object>
) => Schema.decodeUnknownSync(CatalogDocument)({ channels, models, mounts })

const film = model("film", "video", "vp_a", tokenVideo)
const clip = model("clip", "video", "vp_d", secondVideo)
const relayed = model("relayed", "video", "vp_c", secondVideo)
const paint = model("paint", "image", "ip_b", perImage)
const talk = model("talk", "chat", "openai", tokens)

const good = catalog(
  [channel("one"), channel("two", "app-2")],
  [film, clip, relayed, paint, talk, model("voice", "tts", "speech")],
  [
    mount("film", "one"),
    mount("film", "two", "vp_b"),
    mount("clip", "one", "vp_f"),
    mount("clip", "two", "vp_c"),
    mount("paint", "one", "ip_c"),
    mount("talk", "one"),
    mount("voice", "one")
  ]
)

describe("a sound catalog", () => {
  it("has no fault", () => {
    assert.deepStrictEqual(findFaults(good, builtInProtocols), [])
  })

  it("may be empty", () => {
    assert.deepStrictEqual(findFaults(catalog([], [], []), builtInProtocols), [])
  })

  it.each([
    ["vp_a", tokenVideo],
    ["vp_b", tokenVideo],
    ["vp_c", tokenVideo],
    ["vp_c", secondVideo],
    ["vp_d", secondVideo],
    ["vp_e", secondVideo],
    ["vp_f", secondVideo],
    ["vp_z", tokenVideo]
  ])("may price %s by $kind", (protocol, prices) => {
    assert.deepStrictEqual(
      findFaults(catalog([], [model("m", "video", protocol, prices)], []), builtInProtocols),
      []
    )
  })

  it.each(["chat", "vlm", "embedding", "rerank"])("may price %s by tokens", (modality) => {
    const models = [model("m", modality, "openai", tokens)]
    assert.deepStrictEqual(findFaults(catalog([], models, []), builtInProtocols), [])
  })
})

describe("a contradiction", () => {
  it.each([
    [
      "a channel listed twice",
      [channel("one"), channel("one")],
      [film],
      [],
      "channels[1].id",
      '"one"'
    ],
    ["a model listed twice", [], [film, clip, film], [], "models[2].id", '"film"'],
    [
      "an alias that is an id",
      [],
      [{ ...film, aliases: ["sora", "clip"] }, clip],
      [],
      "models[0].aliases[1]",
      '"clip" is the id of a model'
    ],
    [
      "an alias that is its model's own id",
      [],
      [{ ...film, aliases: ["film"] }],
      [],
      "models[0].aliases[0]",
      '"film" is the id of a model'
    ],
    [
      "an alias of two models",
      [],
      [
        { ...film, aliases: ["sora"] },
        { ...clip, aliases: ["short", "sora"] }
      ],
      [],
      "models[1].aliases[1]",
      '"sora" is already an alias of "film"'
    ],
    [
      "an alias listed twice",
      [],
      [{ ...film, aliases: ["sora", "sora"] }],
      [],
      "models[0].aliases[1]",
      '"sora" is already an alias of "film"'
    ],
    [
      "a limit of another modality",
      [],
      [film, { ...film, id: "film-2", limits: { input_video_seconds: 60, input_tokens: 9 } }],
      [],
      "models[1].limits.input_tokens",
      "no such limit"
    ],
    [
      "voices of a model that does not speak",
      [],
      [{ ...film, limits: { voices: ["alloy"] } }],
      [],
      "models[0].limits.voices",
      "no such limit"
    ],
    [
      "no voice at all",
      [],
      [{ ...model("voice", "tts", "openai"), limits: { voices: [] } }],
      [],
      "models[0].limits.voices",
      "leaves nothing to order"
    ],
    [
      "a voice listed twice",
      [],
      [{ ...model("voice", "tts", "openai"), limits: { voices: ["alloy", "alloy"] } }],
      [],
      "models[0].limits.voices[1]",
      '"alloy" is listed twice'
    ],
    [
      "a mount of no model",
      [channel("one")],
      [],
      [mount("film", "one")],
      "mounts[0].model",
      '"film"'
    ],
    ["a mount on no channel", [], [film], [mount("film", "one")], "mounts[0].channel", '"one"'],
    [
      "a mount repeated",
      [channel("one")],
      [film],
      [mount("film", "one"), mount("film", "one", "vp_b")],
      "mounts[1]",
      "twice"
    ],
    [
      "a video priced by image",
      [],
      [model("m", "video", "vp_a", perImage)],
      [],
      "models[0].prices.kind",
      "video cannot be priced by image"
    ],
    [
      "an image priced by tokens",
      [],
      [model("m", "image", "ip_a", tokens)],
      [],
      "models[0].prices.kind",
      "image cannot be priced by tokens"
    ],
    [
      "a chat priced by video tokens",
      [],
      [film, model("m", "chat", "openai", tokenVideo)],
      [],
      "models[1].prices.kind",
      "chat cannot be priced by token_video"
    ],
    [
      "a price on a modality nobody can call",
      [],
      [model("m", "omni", "openai", tokens)],
      [],
      "models[0].prices.kind",
      "omni cannot be priced by tokens"
    ],
    [
      "vp_a priced by second",
      [],
      [model("m", "video", "vp_a", secondVideo)],
      [],
      "models[0].prices.kind",
      "vp_a is billed by token_video, but the price is second_video"
    ],
    [
      "vp_d priced by token",
      [],
      [model("m", "video", "vp_d", tokenVideo)],
      [],
      "models[0].prices.kind",
      "vp_d is billed by second_video, but the price is token_video"
    ],
    [
      "a mount on a protocol billed otherwise",
      [channel("one")],
      [film],
      [mount("film", "one", "vp_e")],
      "mounts[0].protocol",
      "vp_e is billed by second_video, but the price is token_video"
    ],
    [
      "a chat listed under a video protocol",
      [],
      [model("m", "chat", "vp_a", tokens)],
      [],
      "models[0].protocol",
      "vp_a is a protocol of video models, not of chat models"
    ],
    [
      "an embedding listed under an image protocol",
      [],
      [model("m", "embedding", "ip_a", tokens)],
      [],
      "models[0].protocol",
      "ip_a is a protocol of image models, not of embedding models"
    ],
    [
      "an image understanding mounted on an image protocol",
      [channel("one")],
      [model("m", "vlm", "openai", tokens)],
      [mount("m", "one", "ip_b")],
      "mounts[0].protocol",
      "ip_b is a protocol of image models, not of vlm models"
    ],
    [
      "no weight among the mounts of a priority",
      [channel("one"), channel("two")],
      [film],
      [
        { ...mount("film", "one"), priority: 1, weight: 0 },
        { ...mount("film", "two"), weight: 1 }
      ],
      "mounts[0].weight",
      'of the mounts of "film" with priority 1 one needs a weight above 0'
    ],
    [
      "a mount that makes nothing the model has a price for",
      [channel("one"), channel("two")],
      [model("m", "video", "vp_d", { kind: "second_video", per_second: { "4K": "2" } })],
      [mount("m", "one"), mount("m", "two", "vp_f")],
      "mounts[1]",
      'vp_f makes 720p, 1080p, and "m" has prices for 4K alone'
    ],
    [
      "a cost of another modality",
      [channel("one")],
      [paint],
      [{ ...mount("paint", "one"), cost: tokens }],
      "mounts[0].cost.kind",
      "image cannot be priced by tokens"
    ],
    [
      "a cost that the mount's protocol is not billed by",
      [channel("one"), channel("two")],
      [clip],
      [mount("clip", "one"), { ...mount("clip", "two", "vp_e"), cost: tokenVideo }],
      "mounts[1].cost.kind",
      "vp_e is billed by second_video, but the price is token_video"
    ]
  ])("is found by its path: %s", (_, channels, models, mounts, path, message) => {
    const faults = findFaults(catalog(channels, models, mounts), builtInProtocols)
    assert.deepStrictEqual(
      faults.map((fault) => fault.path),
      [path]
    )
    assert.include(faults[0]?.message, message)
  })

  it("does not hide another", () => {
    const faults = findFaults(
      catalog(
        [channel("one"), channel("one")],
        [film, film, model("m", "video", "vp_d", tokenVideo)],
        [mount("nobody", "nowhere"), mount("film", "one", "vp_d"), mount("nobody", "nowhere")]
      ),
      builtInProtocols
    )
    assert.deepStrictEqual(
      faults.map((fault) => fault.path),
      [
        "channels[1].id",
        "models[1].id",
        "models[2].prices.kind",
        "mounts[0].model",
        "mounts[0].channel",
        "mounts[1].protocol",
        "mounts[2].model",
        "mounts[2].channel",
        "mounts[2]"
      ]
    )
  })
})

const oneKey = (baseUrl: string) => ({
  origin: originOf(baseUrl),
  names: new Set([DEFAULT_KEY])
})

const keysOfAll = ({ channels }: CatalogDocument): StoredKeys =>
  new Map(channels.map(({ id, base_url }) => [id, oneKey(base_url)]))

describe("warnings", () => {
  const pathsOf = (document: CatalogDocument, storedKeys = keysOfAll(document)) =>
    findWarnings(document, builtInProtocols, storedKeys).map(({ path }) => path)

  it("speak of channels without a key, by the channel's id", () => {
    assert.deepStrictEqual(pathsOf(good, new Map([["one", oneKey("https://one.example")]])), [
      "channels[1].api_key",
      "mounts[6].protocol"
    ])
  })

  it.each([
    ["no price", [model("m", "video", "vp_a")], [], ["models[0].prices"]],
    [
      "an unknown protocol",
      [model("m", "video", "vp_z", tokenVideo)],
      [mount("m", "one")],
      ["mounts[0].protocol"]
    ],
    ["an unknown override", [paint], [mount("paint", "one", "ip_z")], ["mounts[0].protocol"]],
    ["vp_b without an app id", [film], [mount("film", "one", "vp_b")], ["mounts[0].channel"]],
    ["vp_b with an app id", [film], [mount("film", "two", "vp_b")], []],
    ["a chat protocol", [talk], [mount("talk", "one", "openai")], []],
    [
      "an unknown protocol of chat",
      [talk],
      [mount("talk", "one", "something")],
      ["mounts[0].protocol"]
    ],
    [
      "a modality that opens by another protocol",
      [model("m", "tts", "speech")],
      [mount("m", "one")],
      ["mounts[0].protocol"]
    ],
    [
      "a modality that opens by its mount",
      [model("m", "tts", "openai")],
      [mount("m", "one")],
      ["models[0].prices"]
    ],
    ["a modality that is not mounted", [model("m", "tts", "openai")], [], []],
    ["an override that is served", [film], [mount("film", "one", "vp_c")], []],
    ["a relay without a family", [relayed], [mount("relayed", "one")], ["mounts[0].protocol"]]
  ])("come for %s as they should", (_, models, mounts, paths) => {
    const document = catalog([channel("one"), channel("two", "app-2")], models, mounts)
    assert.deepStrictEqual(pathsOf(document), paths)
  })
})

describe("the protocol of a mount", () => {
  it.each([
    [null, "vp_a"],
    ["vp_c", "vp_c"]
  ])("written %j over vp_a is %s", (written, spoken) => {
    const { models, mounts } = catalog([], [film], [mount("film", "one", written)])
    const [ofModel] = models
    const [ofMount] = mounts
    assert(ofModel !== undefined && ofMount !== undefined)
    assert.strictEqual(mountProtocol(ofModel, ofMount), spoken)
  })
})
