import { assert, describe, it } from "@effect/vitest"
import { Struct } from "effect"
import {
  DEFAULT_RESOLUTION,
  DEFAULT_SECONDS,
  isVideoProtocol,
  SMART_SECONDS,
  videoProtocolRow,
  videoProtocols
} from "../../src/domain/VideoProtocol.ts"

/** The table of video protocols: shortest, longest, who may say -1, resolutions, billing. */
const table = [
  ["vp_a", 5, 15, "never", ["480p", "720p", "1080p", "4K"], "token_video"],
  ["vp_b", 4, 15, "always", [], "token_video"],
  ["vp_c", 1, 16, "token_billed", ["480p", "540p", "720p", "1080p", "4K"], null],
  ["vp_d", 3, 15, "never", ["720p", "1080p", "4K"], "second_video"],
  ["vp_e", 1, 16, "never", ["540p", "720p", "1080p"], "second_video"],
  ["vp_f", 2, 15, "never", ["720p", "1080p"], "second_video"]
] as const

describe("the video protocols", () => {
  it("are six", () => {
    assert.sameMembers(
      Struct.keys(videoProtocols),
      table.map(([protocol]) => protocol)
    )
  })

  it.each(table)("%s offers what its row says", (protocol, min, max, smart, resolutions, billing) =>
    assert.deepStrictEqual(videoProtocolRow(protocol), {
      seconds: [min, max],
      smart,
      resolutions,
      billing
    })
  )

  it("default to 5 seconds of 720p and spell the smart length -1", () => {
    assert.deepStrictEqual([DEFAULT_SECONDS, DEFAULT_RESOLUTION, SMART_SECONDS], [5, "720p", -1])
  })

  it.each(table)("%s can render the default tier", (protocol) => {
    const { resolutions, seconds } = videoProtocolRow(protocol)
    assert.isAtLeast(DEFAULT_SECONDS, seconds[0])
    assert.isAtMost(DEFAULT_SECONDS, seconds[1])
    assert.isTrue(resolutions.length === 0 || resolutions.includes(DEFAULT_RESOLUTION))
  })

  it.each(["vp_g", "VP_A", "ip_a", "openai", "", "constructor", null])(
    "do not include %j",
    (name) => {
      assert.isFalse(isVideoProtocol(name))
    }
  )
})
