import { assert, describe, it } from "@effect/vitest"
import { familyOf } from "../../../../src/domain/video/families/VideoFamily.ts"
import { cloudFamilies } from "../../../../src/domain/video/families/vp_f.ts"
import {
  type VideoProtocolRow,
  videoProtocols
} from "../../../../src/domain/video/VideoProtocol.ts"
import { parametersOf } from "../../../../src/domain/video/vendorFields.ts"

const { vp_c, vp_f } = videoProtocols

const all = ["seed", "watermark", "prompt_extend", "negative_prompt"]

/** The models, and what of vp_f's own fields they have. */
const models = [
  ["wan2.6-t2v", "wan 2.6 text to video", [...all, "shot_type"]],
  ["wan2.6-i2v-cn", "wan 2.6 image to video", [...all, "shot_type"]],
  ["wan2.6-i2v-flash", "wan 2.6 image to video flash", [...all, "shot_type"]],
  ["wan2.6-r2v", "wan 2.6 references to video", [...all, "shot_type"]],
  ["wan2.6-r2v-flash-glb", "wan 2.6 references to video flash", [...all, "shot_type"]],
  ["wan2.7-t2v-2026-06-12", "wan 2.7 text to video", all],
  ["wan2.7-i2v", "wan 2.7 image to video", all],
  ["alibaba/wan2.7-r2v", "wan 2.7 references to video", all],
  ["wan3.0-video", "wan 3.0", ["seed", "watermark", "prompt_extend"]],
  ["wan3.0-video-prime-cn", "wan 3.0", ["seed", "watermark", "prompt_extend"]],
  ["wan2.5-t2v-preview", null, all],
  ["wan2.7-t2vx", null, all],
  ["x2.6-i2v", null, [...all, "shot_type"]],
  ["x2.7-r2v", null, all],
  ["m-1", null, all]
] as const

describe("the families of vp_f", () => {
  it.each(models)("%s is of %s", (model, name, parameters) => {
    assert.strictEqual(familyOf(cloudFamilies, model)?.name ?? null, name)
    const rows: ReadonlyArray<VideoProtocolRow> = [vp_f, vp_c]
    for (const row of rows) {
      assert.sameMembers(Object.keys(parametersOf(row, vp_f, model)), [...parameters])
    }
  })
})
