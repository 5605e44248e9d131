import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import { demoCatalog } from "../src/demoCatalog.ts"
import { CatalogDocument } from "../src/domain/catalog/CatalogDocument.ts"
import { findFaults, findWarnings, mountProtocol } from "../src/domain/catalog/CatalogRules.ts"
import { DEFAULT_KEY } from "../src/domain/catalog/channelKeys.ts"
import { builtInProtocols } from "../src/domain/catalog/ProtocolTables.ts"
import { imageFamilyOf } from "../src/domain/image/ImageProtocol.ts"

const catalog = Schema.decodeUnknownSync(CatalogDocument)(demoCatalog("http://127.0.0.1:1"))

it("the demo catalog is sound and calls every protocol", () => {
  assert.deepStrictEqual(findFaults(catalog, builtInProtocols), [])
  assert.deepStrictEqual(
    findWarnings(
      catalog,
      builtInProtocols,
      new Map(
        catalog.channels.map(({ id }) => [id, { origin: "x", names: new Set([DEFAULT_KEY]) }])
      )
    ),
    []
  )
  const models = new Map(catalog.models.map((model) => [model.id, model]))
  const called = catalog.mounts.flatMap((mount) => {
    const model = models.get(mount.model)
    return model === undefined ? [] : [mountProtocol(model, mount)]
  })
  assert.sameMembers(
    [...new Set(called)],
    [...new Set(Object.values(builtInProtocols).flatMap((table) => [...table.keys()]))]
  )
})

it("each image model of the demo says that it takes images where its edits have references", () => {
  const models = new Map(catalog.models.map((model) => [model.id, model]))
  for (const mount of catalog.mounts) {
    const model = models.get(mount.model)
    const row =
      model === undefined ? undefined : builtInProtocols.image.get(mountProtocol(model, mount))
    if (model?.modality !== "image" || row === undefined) continue
    const { references } = imageFamilyOf(row, mount.upstream_model ?? model.id)
    assert.strictEqual(model.input_forms.includes("image"), references !== null, model.id)
  }
})

it("the demo relays a model of every family", () => {
  const relayed = catalog.mounts.flatMap((mount) =>
    mount.protocol === "vp_c"
      ? catalog.models.filter(({ id }) => id === mount.model).map(({ protocol }) => protocol)
      : []
  )
  assert.sameMembers(
    relayed.map((protocol) => builtInProtocols.video.get(protocol)?.relayFamily),
    ["a", "d", "e", "f"]
  )
})
