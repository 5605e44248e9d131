import { assert, describe, it } from "@effect/vitest"
import { Struct } from "effect"
import { builtInProtocols } from "../../../src/domain/catalog/ProtocolTables.ts"
import {
  canServe,
  DEFAULT_RESOLUTION,
  DEFAULT_SECONDS,
  SMART_SECONDS,
  type VideoProtocol,
  type VideoProtocolRow,
  videoProtocols
} from "../../../src/domain/video/VideoProtocol.ts"

/** The table: shortest, longest, who may say -1, resolutions, billing, app id, relay family. */
const table = [
  ["vp_a", 5, 15, "never", ["480p", "720p", "1080p", "4K"], "token_video", false, "a"],
  ["vp_b", 4, 15, "always", [], "token_video", true, "a"],
  ["vp_c", 1, 16, "token_billed", ["480p", "540p", "720p", "1080p", "4K"], null, false, null],
  ["vp_d", 3, 15, "never", ["720p", "1080p", "4K"], "second_video", false, "d"],
  ["vp_e", 1, 16, "never", ["540p", "720p", "1080p"], "second_video", false, "e"],
  ["vp_f", 2, 15, "never", ["720p", "1080p"], "second_video", false, "f"],
  ["veo", 4, 8, "never", ["720p", "1080p", "4K"], "second_video", false, null],
  ["minimax", 4, 15, "never", ["768p", "2K"], "second_video", false, null]
] as const

const rowOf = (protocol: VideoProtocol): VideoProtocolRow => videoProtocols[protocol]

describe("the video protocols", () => {
  it("are eight", () => {
    assert.sameMembers(
      Struct.keys(videoProtocols),
      table.map(([protocol]) => protocol)
    )
  })

  it.each(table)(
    "%s offers what its row says",
    (protocol, min, max, smart, resolutions, billing, needsAppId, relayFamily) => {
      const {
        families: ____,
        parameters: _,
        modelsWith: __,
        ratios: ___,
        onlySeconds: _____,
        unknownForms: ______,
        secondsAt: _______,
        isShapedByImage,
        soundsByDefault,
        billUnit = null,
        place,
        ...row
      } = rowOf(protocol)
      const isShaped = billing === "second_video" && protocol !== "veo"
      assert.strictEqual(isShapedByImage ?? false, isShaped)
      assert.strictEqual(soundsByDefault ?? true, protocol !== "vp_d")
      const billUnits = new Map([
        ["vp_d", "unit"],
        ["vp_e", "credit"],
        ["vp_f", "second"],
        ["minimax", "second"]
      ])
      assert.strictEqual(billUnit, billUnits.get(protocol) ?? null)
      const sound = place?.("unknown", []).sound
      assert.strictEqual(sound, ["vp_f", "veo", "minimax"].includes(protocol) ? "unset" : "switch")
      assert.deepStrictEqual(row, {
        seconds: [min, max],
        smart,
        resolutions,
        billing,
        needsAppId,
        relays: protocol === "vp_c",
        relayFamily
      })
    }
  )

  it.each([
    ["vp_a", "a"],
    ["vp_b", "a"],
    ["vp_c", null],
    ["vp_d", "d"],
    ["vp_e", "e"],
    ["vp_f", "f"],
    ["veo", null],
    ["minimax", null],
    ["ip_b", null],
    ["toString", null]
  ])("the relay serves a model listed as %s by its family %j", (listed, family) => {
    const row = builtInProtocols.video.get(listed)
    assert.strictEqual(row?.relayFamily ?? null, family)
    assert.strictEqual(canServe(videoProtocols.vp_c, row), family !== null)
    assert.isTrue(canServe(videoProtocols.vp_a, row))
  })

  it("default to 5 seconds of 720p and spell the smart length -1", () => {
    assert.deepStrictEqual([DEFAULT_SECONDS, DEFAULT_RESOLUTION, SMART_SECONDS], [5, "720p", -1])
  })

  it.each(table)("%s can render the default tier, or has one of its own", (protocol) => {
    const { resolutions, seconds } = rowOf(protocol)
    assert.isAtLeast(DEFAULT_SECONDS, seconds[0])
    assert.isAtMost(DEFAULT_SECONDS, seconds[1])
    const hasDefault = resolutions.length === 0 || resolutions.includes(DEFAULT_RESOLUTION)
    assert.strictEqual(hasDefault, protocol !== "minimax")
  })

  it("have only some lengths where the vendor has only some", () => {
    const rows = Object.entries<VideoProtocolRow>(videoProtocols)
    assert.deepStrictEqual(
      rows.flatMap(([name, { onlySeconds }]) =>
        onlySeconds === undefined ? [] : [name, onlySeconds]
      ),
      ["veo", [4, 6, 8]]
    )
  })

  it.each(["vp_g", "VP_A", "ip_a", "openai", "", "constructor"])("do not include %j", (name) => {
    assert.isFalse(builtInProtocols.video.has(name))
  })
})
