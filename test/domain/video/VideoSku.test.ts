import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { VideoSkuInvalid } from "../../../src/domain/Errors.ts"
import type { Resolution } from "../../../src/domain/video/tiers.ts"
import {
  type VideoBilling,
  type VideoProtocol,
  type VideoProtocolRow,
  videoProtocols
} from "../../../src/domain/video/VideoProtocol.ts"
import { resolveSku } from "../../../src/domain/video/VideoSku.ts"

interface Offer {
  readonly protocol: VideoProtocol
  readonly billing: VideoBilling
  readonly min: number
  readonly max: number
  readonly smart: boolean
  readonly resolutions: ReadonlyArray<Resolution>
}

const everyResolution: ReadonlyArray<Resolution> = ["480p", "540p", "720p", "1080p", "4K"]
const wide = { min: 1, max: 16, resolutions: everyResolution }

const offers: ReadonlyArray<Offer> = [
  {
    protocol: "vp_a",
    billing: "token_video",
    min: 5,
    max: 15,
    smart: false,
    resolutions: ["480p", "720p", "1080p", "4K"]
  },
  { protocol: "vp_b", billing: "token_video", min: 4, max: 15, smart: true, resolutions: [] },
  { protocol: "vp_c", billing: "token_video", smart: true, ...wide },
  { protocol: "vp_c", billing: "second_video", smart: false, ...wide },
  {
    protocol: "vp_d",
    billing: "second_video",
    min: 3,
    max: 15,
    smart: false,
    resolutions: ["720p", "1080p", "4K"]
  },
  {
    protocol: "vp_e",
    billing: "second_video",
    min: 1,
    max: 16,
    smart: false,
    resolutions: ["540p", "720p", "1080p"]
  },
  {
    protocol: "vp_f",
    billing: "second_video",
    min: 2,
    max: 15,
    smart: false,
    resolutions: ["720p", "1080p"]
  }
]

const resolve = (
  { billing, protocol }: Offer,
  seconds: number | string | null,
  resolution: string | null
) => resolveSku(videoProtocols[protocol], billing, { seconds, resolution })

const refusal = (
  offer: Offer,
  seconds: number | string | null,
  resolution: string | null
): VideoSkuInvalid => Result.getOrThrow(Result.flip(resolve(offer, seconds, resolution)))

describe.each(offers)("the length of $protocol billed by $billing", (offer) => {
  const { max, min, smart } = offer

  it("may be each whole second from the first bound to the last", () => {
    for (let seconds = min; seconds <= max; seconds++) {
      assert.strictEqual(Result.getOrThrow(resolve(offer, seconds, null)).seconds, seconds)
    }
  })

  it.each([
    [min - 1, min],
    [max + 1, max],
    [0, min],
    [-2, min],
    [1_000_000, max]
  ])("is refused at %d, and %d is named the nearest", (seconds, nearest) => {
    const error = refusal(offer, seconds, null)
    assert.strictEqual(error._tag, "video_sku_invalid")
    assert.strictEqual(error.param, "duration")
    assert.deepStrictEqual(error.allowed, { min, max, smart })
    assert.strictEqual(error.nearest, nearest)
    assert.include(error.message, `${seconds} is not offered`)
    assert.include(error.message, `from ${min} to ${max}`)
    assert.include(error.message, `The nearest is ${nearest}.`)
  })

  it(smart ? "may be left to the model with -1" : "may not be left to the model", () => {
    const answer = resolve(offer, -1, null)
    if (smart) {
      assert.strictEqual(Result.getOrThrow(answer).seconds, "smart")
    } else {
      const error = Result.getOrThrow(Result.flip(answer))
      assert.deepStrictEqual([error.param, error.nearest], ["duration", min])
    }
  })

  it("speaks of -1 in a refusal only where it is offered", () => {
    assert.strictEqual(refusal(offer, 99, null).message.includes("or -1"), smart)
  })

  it("is 5 seconds when nothing was said", () => {
    assert.strictEqual(Result.getOrThrow(resolve(offer, null, null)).seconds, 5)
  })

  it.each([
    ["7.4", 7],
    ["7.5", 8],
    ["5.0", 5],
    ["8s", 8],
    ["0.2", min],
    ["99.9", max],
    ["-1.5", min],
    ["short", 5],
    ["Infinity", 5],
    ["", 5]
  ])("is refused as the flag text %j, and %d is named the nearest", (text, nearest) => {
    const error = refusal(offer, text, null)
    assert.deepStrictEqual([error.param, error.nearest], ["duration", nearest])
    assert.include(error.message, JSON.stringify(text))
  })

  it("is checked before the resolution", () => {
    assert.strictEqual(refusal(offer, max + 1, "banana").param, "duration")
  })
})

describe.each(offers.filter(({ resolutions }) => resolutions.length > 0))(
  "the resolution of $protocol billed by $billing",
  (offer) => {
    it("may be each of its whitelist, and is sent and billed as such", () => {
      for (const resolution of offer.resolutions) {
        assert.deepStrictEqual(Result.getOrThrow(resolve(offer, 5, resolution)), {
          seconds: 5,
          resolution,
          billedResolution: resolution
        })
      }
    })

    it("is matched without case and answered in the protocol's spelling", () => {
      for (const resolution of offer.resolutions) {
        for (const written of [resolution.toLowerCase(), resolution.toUpperCase()]) {
          assert.strictEqual(
            Result.getOrThrow(resolve(offer, null, written)).resolution,
            resolution
          )
        }
      }
    })

    it("is 720p when nothing was said", () => {
      const sku = Result.getOrThrow(resolve(offer, 5, null))
      assert.deepStrictEqual([sku.resolution, sku.billedResolution], ["720p", "720p"])
    })

    it.each([...everyResolution.filter((name) => !offer.resolutions.includes(name)), "banana", ""])(
      "is refused at %j with the whole whitelist",
      (written) => {
        const error = refusal(offer, 5, written)
        assert.strictEqual(error._tag, "video_sku_invalid")
        assert.strictEqual(error.param, "resolution")
        assert.deepStrictEqual(error.allowed, offer.resolutions)
        assert.include(error.message, JSON.stringify(written))
        assert.include(error.message, offer.resolutions.join(", "))
        assert.include(error.message, `The nearest is ${error.nearest}.`)
      }
    )
  }
)

describe("the nearest resolution", () => {
  it.each([
    ["vp_a", "token_video", "540p", "480p"],
    ["vp_a", "token_video", "240p", "480p"],
    ["vp_a", "token_video", "2K", "1080p"],
    ["vp_a", "token_video", "1440p", "1080p"],
    ["vp_a", "token_video", "2160p", "4K"],
    ["vp_a", "token_video", "8K", "4K"],
    ["vp_a", "token_video", "hd", "720p"],
    ["vp_c", "second_video", "500", "480p"],
    ["vp_c", "second_video", "520", "540p"],
    ["vp_d", "second_video", "480p", "720p"],
    ["vp_e", "second_video", "480p", "540p"],
    ["vp_e", "second_video", "4K", "1080p"],
    ["vp_e", "second_video", "full hd", "720p"],
    ["vp_f", "second_video", "4k", "1080p"],
    ["vp_f", "second_video", "480P", "720p"]
  ] as const)("of %s (%s) to %s is %s", (protocol, billing, written, nearest) => {
    const input = { seconds: 5, resolution: written }
    const error = Result.getOrThrow(
      Result.flip(resolveSku(videoProtocols[protocol], billing, input))
    )
    assert.strictEqual(error.nearest, nearest)
  })
})

describe("vp_b", () => {
  it.each([null, "480p", "720p", "1080P", "4K", "540p", "banana", ""])(
    "takes the resolution %j, sends none and bills 720p",
    (resolution) => {
      const sku = Result.getOrThrow(
        resolveSku(videoProtocols.vp_b, "token_video", { seconds: -1, resolution })
      )
      assert.deepStrictEqual(sku, { seconds: "smart", resolution: null, billedResolution: "720p" })
    }
  )
})

describe("a protocol without the default tier", () => {
  const row: VideoProtocolRow = {
    ...videoProtocols.vp_d,
    seconds: [6, 8],
    resolutions: ["540p", "1080p"]
  }

  it("defaults to the nearest length and its first resolution", () => {
    const sku = resolveSku(row, "second_video", { seconds: null, resolution: null })
    assert.deepStrictEqual(Result.getOrThrow(sku), {
      seconds: 6,
      resolution: "540p",
      billedResolution: "540p"
    })
  })

  it.each([
    [{ seconds: "short", resolution: null }, 6],
    [{ seconds: 6, resolution: "hd" }, "540p"]
  ])("names what it offers as the nearest to %j", (input, nearest) => {
    const error = Result.getOrThrow(Result.flip(resolveSku(row, "second_video", input)))
    assert.strictEqual(error.nearest, nearest)
  })
})
