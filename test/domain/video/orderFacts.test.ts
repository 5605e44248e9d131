import { assert, describe, it } from "@effect/vitest"
import { factsOf } from "../../../src/domain/video/orderFacts.ts"
import type { VideoBlock } from "../../../src/domain/video/VideoInput.ts"
import { type VideoProtocol, videoProtocols } from "../../../src/domain/video/VideoProtocol.ts"

const text: VideoBlock = { type: "text", text: "a" }
const url = "https://files.test/1"
const image: VideoBlock = { type: "image", role: null, url }
const first: VideoBlock = { type: "image", role: "first_frame", url }
const last: VideoBlock = { type: "image", role: "last_frame", url }
const reference: VideoBlock = { type: "image", role: "reference_image", url }
const video: VideoBlock = { type: "video", url }
const audio: VideoBlock = { type: "audio", url }

const decided = (
  protocol: VideoProtocol,
  upstreamModel: string,
  blocks: ReadonlyArray<VideoBlock>,
  generateAudio: boolean | null = null,
  listed: VideoProtocol = protocol
) =>
  factsOf(
    { row: videoProtocols[protocol], listed: videoProtocols[listed], upstreamModel },
    { blocks, generateAudio },
    "720p"
  )

describe("the reference images of an order", () => {
  it.each([
    ["vp_a", "doubao-seedance-2-0", [text], 0],
    ["vp_a", "doubao-seedance-2-0", [image], 0],
    ["vp_a", "doubao-seedance-2-0", [image, image, image], 3],
    ["vp_a", "doubao-seedance-2-0", [first, last], 0],
    ["vp_a", "doubao-seedance-2-0", [reference, reference, video, audio], 2],
    ["vp_d", "kling-v4", [first, reference], 1],
    ["vp_e", "viduq3", [image], 1],
    ["vp_e", "viduq3-pro", [image], 0]
  ] as const)("%s, %s: of %j are %s", (protocol, upstreamModel, blocks, count) => {
    assert.strictEqual(decided(protocol, upstreamModel, blocks).referenceImages, count)
  })
})

describe("the facts of an order", () => {
  it.each([
    ["vp_a", "doubao-seedance-2-0", [text], "text"],
    ["vp_a", "doubao-seedance-2-0", [text, image], "image"],
    ["vp_a", "doubao-seedance-2-0", [image, image], "reference"],
    ["vp_a", "doubao-seedance-2-0", [first, last], "frames"],
    ["vp_a", "doubao-seedance-2-0", [text, video], "reference"],
    // The first generation has no references: images without a role are sent without one.
    ["vp_a", "doubao-seedance-1-5", [image, image], "image"],
    ["vp_a", "doubao-seedance-1-5", [reference], "reference"],
    ["vp_d", "kling-v3-omni", [image], "image"],
    ["vp_a", "ep-1", [image, audio], "reference"],
    ["vp_b", "anything", [image, audio], "reference"],
    ["vp_d", "kling-v4", [image, reference], "reference"],
    ["vp_d", "kling-v4", [image, last], "reference"],
    ["vp_e", "viduq3", [image], "reference"],
    ["vp_e", "viduq3-pro", [image], "image"],
    ["vp_f", "wan2.6-t2v", [text, audio], "text"],
    ["vp_f", "wan3.0-video", [first, last, reference], "reference"],
    ["vp_f", "wan9.1-r2v", [image], "reference"],
    ["vp_f", "wan9.1-i2v", [image], "image"]
  ] as const)("%s, %s: %j are of mode %s", (protocol, upstreamModel, blocks, mode) => {
    assert.strictEqual(decided(protocol, upstreamModel, blocks).facts.mode, mode)
  })

  it.each([
    ["vp_a", "doubao-seedance-2-0", null, true, true],
    ["vp_a", "doubao-seedance-2-0", false, false, false],
    ["vp_a", "doubao-seedance-1-0", null, false, null],
    ["vp_b", "anything", null, true, true],
    ["vp_d", "kling-v3", null, false, false],
    ["vp_d", "kling-v3", true, true, true],
    ["vp_d", "kling-v3-turbo", null, true, null],
    ["vp_d", "kling-v4", null, false, false],
    ["vp_e", "viduq3-pro", null, true, true],
    ["vp_f", "wan2.6-i2v-flash", null, true, true],
    ["vp_f", "wan2.7-t2v", null, true, null],
    // Not every model of this vendor has the switch, so that of an unknown one is not known.
    ["vp_f", "wan9-t2v", false, null, false]
  ] as const)("%s, %s with generate_audio %j has sound %j and is sent %j", (...row) => {
    const [protocol, upstreamModel, ordered, sound, sent] = row
    const { facts, generateAudio } = decided(protocol, upstreamModel, [text], ordered)
    assert.deepStrictEqual([facts.sound, generateAudio], [sound, sent])
  })

  it("has a switch for sound where the id of an unknown model says so", () => {
    const soundOf = (model: string) => decided("vp_f", model, [image], false).facts.sound
    assert.deepStrictEqual(["wan9.1-i2v", "wan9.1-i2v-flash", "wan9.1-r2v"].map(soundOf), [
      null,
      false,
      false
    ])
  })

  it("of vp_b follow the families of vp_a, whose API it shares", () => {
    const { facts, generateAudio } = decided("vp_b", "doubao-seedance-1-0", [text])
    assert.deepStrictEqual([facts.sound, generateAudio], [false, null])
    const relayed = decided("vp_c", "doubao-seedance-1-0", [text], null, "vp_b")
    assert.strictEqual(relayed.facts.sound, false)
  })

  it("of a relay are those of the protocol under which the model is listed", () => {
    const { facts, generateAudio } = decided("vp_c", "kling-v3", [text], null, "vp_d")
    assert.deepStrictEqual([facts.sound, generateAudio], [false, false])
  })
})
