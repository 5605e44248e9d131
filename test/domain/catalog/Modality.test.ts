import { assert, describe, it } from "@effect/vitest"
import { Schema, Struct } from "effect"
import { Modality, modalities, modalityFilters } from "../../../src/domain/catalog/Modality.ts"

/** The modality overview: filter short name, endpoint, and whether it is open. */
const overview = [
  ["chat", "language", "/v1/chat/completions", "open"],
  ["vlm", "image-text", "/v1/chat/completions", "open"],
  ["embedding", "vector", "/v1/embeddings", "open"],
  ["rerank", "rerank", "/v1/rerank", "by_mount"],
  ["image", "image", "/v1/images/generations", "open"],
  ["tts", null, "/v1/audio/speech", "by_mount"],
  ["asr", null, "/v1/audio/transcriptions", "by_mount"],
  ["video", "video", "/v1/videos/generations", "open"],
  ["omni", null, null, "planned"]
] as const

describe("the modality overview", () => {
  it("has nine rows and no other", () => {
    assert.sameMembers(
      Struct.keys(modalities),
      overview.map(([modality]) => modality)
    )
  })

  it.each(overview)("%s has its row", (modality, filter, endpoint, status) => {
    const row = modalities[modality]
    assert.deepStrictEqual([row.filter, row.endpoint, row.status], [filter, endpoint, status])
  })

  it.each(["Chat", "text", "language", "", "constructor"])("%j is no modality", (text) => {
    assert.isFalse(Schema.is(Modality)(text))
  })
})

describe("the filter of the model list", () => {
  it("takes every modality and every short name, and nothing else", () => {
    assert.deepStrictEqual(
      Object.fromEntries(modalityFilters),
      Object.fromEntries([
        ...overview.map(([modality]) => [modality, modality]),
        ["language", "chat"],
        ["image-text", "vlm"],
        ["vector", "embedding"]
      ])
    )
  })

  it.each(["", "none", "Language", "speech"])("does not know %j", (text) => {
    assert.isUndefined(modalityFilters.get(text))
  })
})
