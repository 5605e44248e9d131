/** What every catalog must do, whatever it is kept in. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { Catalog } from "../../src/services/Catalog.ts"
import { ChannelCredentials } from "../../src/services/channels/ChannelCredentials.ts"
import type { Stores } from "../support/ledger.ts"

type CatalogJson = typeof CatalogWrite.Encoded

const channel = (id: string, apiKey?: string) => ({
  id,
  name: id,
  base_url: `http://${id}.test`,
  ...(apiKey === undefined ? {} : { api_key: apiKey })
})
const paint = (perImage: string) => ({
  id: "paint",
  modality: "image" as const,
  protocol: "ip_a",
  prices: { kind: "image" as const, per_image: perImage }
})
const clip = { id: "clip", modality: "video" as const, protocol: "vp_d" }

const first: CatalogJson = {
  channels: [channel("a", "key-a"), channel("b")],
  models: [paint("0.2")],
  mounts: [
    { model: "paint", channel: "b" },
    { model: "paint", channel: "a", upstream_model: "vendor-paint" }
  ]
}

const replace = Effect.fnUntraced(function* (catalog: CatalogJson) {
  const written = yield* Effect.orDie(Schema.decodeEffect(CatalogWrite)(catalog))
  return yield* (yield* Catalog).replace(written)
})

const snapshot = Effect.flatMap(Catalog, ({ snapshot }) => snapshot)

const unchanged = { added: [], changed: [], removed: [] }

/** Begins with a store nobody has written to; the tests follow each other on one catalog. */
export const catalogSuite = (it: Vitest.MethodsNonLive<Stores>): void => {
  it.effect("is empty, and version 0, before the first one is loaded", () =>
    Effect.gen(function* () {
      const { version, document } = yield* snapshot
      assert.deepStrictEqual([version, document.models], [0n, []])
    })
  )

  it.effect("is in force at once, and says what came and what is missing", () =>
    Effect.gen(function* () {
      const replaced = yield* replace(first)
      assert.strictEqual(replaced.version, 1n)
      assert.deepStrictEqual(replaced.changes, {
        channels: { ...unchanged, added: ["a", "b"] },
        models: { ...unchanged, added: ["paint"] },
        mounts: { ...unchanged, added: ["paint@b", "paint@a"] }
      })
      assert.deepStrictEqual(
        replaced.warnings.map(({ path }) => path),
        ["channels[1].api_key"]
      )
      const { version, models, mounts, channels } = yield* snapshot
      assert.strictEqual(version, 1n)
      assert.deepStrictEqual([...models.keys()], ["paint"])
      assert.deepStrictEqual(
        mounts.get("paint")?.map((mount) => mount.channel),
        ["b", "a"]
      )
      assert.deepStrictEqual([...channels.keys()], ["a", "b"])
    })
  )

  it.effect("never shows a channel's key", () =>
    Effect.gen(function* () {
      const { document } = yield* snapshot
      assert.notProperty(document.channels[0], "api_key")
      const shown = JSON.stringify(document.channels)
      assert.include(shown, "http://a.test")
      assert.notInclude(shown, "key-a")
    })
  )

  it.effect("tells a changed price, a new key and what has gone from what has stayed", () =>
    Effect.gen(function* () {
      const replaced = yield* replace({
        channels: [channel("a", "key-b")],
        models: [paint("0.3"), clip],
        mounts: [{ model: "paint", channel: "a", upstream_model: "vendor-paint" }]
      })
      assert.strictEqual(replaced.version, 2n)
      assert.deepStrictEqual(replaced.changes, {
        channels: { ...unchanged, changed: ["a"], removed: ["b"] },
        models: { ...unchanged, added: ["clip"], changed: ["paint"] },
        mounts: { ...unchanged, removed: ["paint@b"] }
      })
    })
  )

  it.effect("mounts nothing that is switched off, nor anything on a channel that is", () =>
    Effect.gen(function* () {
      const off = { enabled: false }
      yield* replace({
        channels: [channel("a"), { ...channel("b"), ...off }],
        models: [paint("0.3"), clip],
        mounts: [
          { model: "paint", channel: "b" },
          { model: "paint", channel: "a" },
          { model: "clip", channel: "a", ...off }
        ]
      })
      const { mounts } = yield* snapshot
      assert.deepStrictEqual(
        [mounts.get("paint")?.map((mount) => mount.channel), mounts.get("clip")],
        [["a"], undefined]
      )
    })
  )

  it.effect("is replaced on the version that an edit was made on, and on no other", () =>
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const { version: onVersion, document } = yield* snapshot
      const written = yield* Effect.orDie(Schema.decodeEffect(CatalogWrite)(first))
      const edit = (author: string) => catalog.replace(written, { author, onVersion })
      const both = yield* Effect.all([Effect.exit(edit("Ada")), Effect.exit(edit("Bob"))], {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(both.map(({ _tag }) => _tag).toSorted(), ["Failure", "Success"])
      const { version, author } = yield* snapshot
      assert.strictEqual(version, onVersion + 1n)
      yield* catalog.enable("a", false, "Eve")
      const late = yield* Effect.flip(edit("Cid"))
      assert.deepStrictEqual(
        late._tag === "precondition_failed"
          ? [late.version, late.changed.map((one) => [one.version, one.by])]
          : late,
        [
          Number(version) + 1,
          [
            [Number(version), author],
            [Number(version) + 1, "Eve"]
          ]
        ]
      )
      // A key that came with the late edit is not stored either.
      const keyed = yield* Effect.orDie(
        Schema.decodeEffect(CatalogWrite)({ ...first, channels: [channel("late", "key-late")] })
      )
      yield* Effect.flip(catalog.replace(keyed, { author: "Cid", onVersion }))
      const { storedKeys } = yield* ChannelCredentials
      assert.isFalse((yield* storedKeys).has("late"))
      yield* replace(Schema.encodeSync(CatalogWrite)(document))
    })
  )

  it.effect("is previewed without a change", () =>
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const before = yield* snapshot
      const written = yield* Effect.orDie(
        Schema.decodeEffect(CatalogWrite)({
          channels: [channel("a"), channel("fresh", "key-fresh"), channel("keyless")],
          models: [paint("0.7")],
          mounts: [
            { model: "paint", channel: "fresh" },
            { model: "paint", channel: "keyless" }
          ]
        })
      )
      const preview = yield* catalog.preview(written)
      assert.strictEqual(preview.version, before.version)
      assert.deepInclude(preview.changes.models, { changed: ["paint"] })
      assert.includeMembers([...preview.changes.channels.added], ["fresh", "keyless"])
      // Of the channel that is written without a key, and of no other.
      assert.deepStrictEqual(
        preview.warnings.map(({ path }) => path.slice(0, "channels[2]".length)),
        ["channels[2]"]
      )
      assert.deepStrictEqual(yield* snapshot, before)
    })
  )

  it.effect("is refused whole, with every fault by path, when it contradicts itself", () =>
    Effect.gen(function* () {
      const before = yield* snapshot
      const refused = yield* Effect.flip(
        replace({
          channels: [channel("new", "key-new")],
          models: [{ ...clip, prices: paint("1").prices }],
          mounts: [{ model: "nothing", channel: "nowhere" }]
        })
      )
      assert.deepStrictEqual(
        refused._tag === "invalid_request" ? refused.faults?.map(({ path }) => path) : null,
        ["models[0].prices.kind", "mounts[0].model", "mounts[0].channel"]
      )
      assert.strictEqual(refused.param, "models[0].prices.kind")
      assert.deepStrictEqual((yield* snapshot).document, before.document)
      const { storedKeys } = yield* ChannelCredentials
      assert.isFalse((yield* storedKeys).has("new"))
    })
  )

  it.effect("gives many who replace it at once a version each", () =>
    Effect.gen(function* () {
      const { version } = yield* snapshot
      const replaced = yield* Effect.all(
        Array.from({ length: 10 }, (_, index) =>
          replace({ channels: [], models: [paint(`0.${index + 1}`)], mounts: [] })
        ),
        { concurrency: "unbounded" }
      )
      assert.sameMembers(
        replaced.map((one) => one.version),
        Array.from({ length: 10 }, (_, index) => version + BigInt(index) + 1n)
      )
      assert.strictEqual((yield* snapshot).version, version + 10n)
    })
  )

  it.effect("leads from an alias to its model, and has the model once", () =>
    Effect.gen(function* () {
      const { changes } = yield* replace({
        ...first,
        models: [{ ...paint("0.2"), aliases: ["brush", "maker/brush-2"] }]
      })
      assert.deepStrictEqual(changes.models, { ...unchanged, changed: ["paint"] })
      const { models, modelsByName, document } = yield* snapshot
      assert.deepStrictEqual([...models.keys()], ["paint"])
      for (const name of ["paint", "brush", "maker/brush-2"]) {
        assert.strictEqual(modelsByName.get(name), models.get("paint"))
      }
      assert.deepStrictEqual(document.models[0]?.aliases, ["brush", "maker/brush-2"])
    })
  )
}
