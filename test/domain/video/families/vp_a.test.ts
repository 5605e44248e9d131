import { assert, describe, it } from "@effect/vitest"
import { describeInputs, familyOf } from "../../../../src/domain/video/families/VideoFamily.ts"
import { contentFamilies } from "../../../../src/domain/video/families/vp_a.ts"
import { videoProtocols } from "../../../../src/domain/video/VideoProtocol.ts"
import { parametersOf } from "../../../../src/domain/video/vendorFields.ts"

/** Ids as the vendor, its second cloud and resellers write them. */
const names = [
  ["doubao-seedance-1-0-pro-250528", "Seedance 1.0"],
  ["doubao-seedance-1-0-lite-i2v-250428", "Seedance 1.0"],
  ["seedance-1.0-pro-fast", "Seedance 1.0"],
  ["doubao-seedance-1-5-pro-251215", "Seedance 1.5"],
  ["doubao-seedance-1-5-pro-251215-cn", "Seedance 1.5"],
  ["bytedance/seedance-1.5-pro", "Seedance 1.5"],
  ["Doubao-Seedance-1.5-pro", "Seedance 1.5"],
  ["doubao-seedance-2-0-260128", "Seedance 2.0"],
  ["dreamina-seedance-2-0-260128", "Seedance 2.0"],
  ["seedance_2_0", "Seedance 2.0"],
  ["dreamina-seedance-2-0-fast-260128-glb", "Seedance 2.0 fast"],
  ["seedance-2.0-fast", "Seedance 2.0 fast"],
  ["doubao-seedance-2-0-mini-260615", "Seedance 2.0 mini"],
  ["seedance-2.0-mini", "Seedance 2.0 mini"],
  ["dreamina-seedance-2-5-260801", "Seedance 2.5"],
  ["seedance-v2.5", "Seedance 2.5"],
  ["seedance-2-05", undefined],
  ["seedance-3-0", undefined],
  ["seedream-4-0-250828", undefined],
  ["ep-20260101000000-abcde", undefined],
  ["vendor-film-a", undefined]
] as const

describe("the families of vp_a", () => {
  it.each(names)("%s is of %s", (id, name) => {
    assert.strictEqual(familyOf(contentFamilies, id)?.name, name)
  })

  it.each(names)("%s has the parameters of its generation", (id, name) => {
    const { vp_a: row, vp_c: relay } = videoProtocols
    const parameters = [
      "seed",
      ...(name?.startsWith("Seedance 2") ? [] : ["camera_fixed"]),
      "watermark",
      ...(name === "Seedance 1.0" ? [] : ["return_last_frame"]),
      ...(name === undefined || name === "Seedance 2.5" ? ["omni_reference_task_type"] : [])
    ]
    assert.deepStrictEqual(Object.keys(parametersOf(row, row, id)), parameters)
    assert.deepStrictEqual(Object.keys(parametersOf(relay, row, id)), parameters)
  })

  it.each([
    ["seedance-1-0-pro", [2, 12], false, ["480p", "720p", "1080p"], "never"],
    ["seedance-1-5-pro", [4, 12], true, ["480p", "720p", "1080p"], "switch"],
    ["seedance-2-0", [4, 15], true, ["480p", "720p", "1080p", "4K"], "switch"],
    ["seedance-2-0-fast", [4, 15], true, ["480p", "720p"], "switch"],
    ["seedance-2-0-mini", [4, 15], true, ["480p", "720p"], "switch"],
    ["seedance-2-5", [4, 30], true, ["480p", "720p", "1080p"], "switch"]
  ] as const)("%s takes %j seconds", (id, seconds, smart, resolutions, sound) => {
    const family = familyOf(contentFamilies, id)
    assert.deepStrictEqual(
      [family?.seconds, family?.isSmart ?? false, family?.resolutions, family?.sound],
      [seconds, smart, resolutions, sound]
    )
  })

  it.each([
    ["seedance-1-5-pro", "a text alone; or a first frame, a last frame"],
    [
      "seedance-2-0",
      "a text alone; or a first frame, a last frame; or up to 9 reference images, up to 3 reference videos, up to 3 reference sounds"
    ],
    [
      "seedance-2-5",
      "a text alone; or a first frame, a last frame; or up to 30 reference images, up to 10 reference videos, up to 10 reference sounds, a video to edit, a video to extend"
    ]
  ])("%s takes %s", (id, words) => {
    const family = familyOf(contentFamilies, id)
    assert.strictEqual(family === null ? "" : describeInputs(family), words)
  })
})
