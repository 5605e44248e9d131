/**
 * A vendor that says anything of its file: whatever stands in `Content-Type`, the file leaves as one of
 * the types that are shown, or as a download. PROPERTY_CASES sets how many spellings, PROPERTY_SEED
 * repeats a run.
 */
import { MIMEType } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Stream } from "effect"
import { fileResponse } from "../../src/http/handlers/orders/storedFile.ts"
import { seedOfDay } from "../support/day.ts"
import { type Dice, diceOf } from "../support/randomOrders.ts"

const CASES = Number(process.env.PROPERTY_CASES ?? 10_000)
const SEED = Number(process.env.PROPERTY_SEED ?? seedOfDay)

/** Written out once more: a type that joins the list is to be thought about twice. */
const shown = new Set(
  [
    "image/ png jpeg jpg gif webp bmp avif heic heif",
    "audio/ wav x-wav wave mpeg mp3 aac flac ogg mp4 x-m4a webm",
    "video/ mp4 webm quicktime x-matroska ogg x-m4v"
  ].flatMap((line) => {
    const [kind = "", ...names] = line.split(" ")
    return names.map((name) => kind + name)
  })
)

/** What browsers run, or take for a document that can. */
const active = [
  "text/html",
  "text/xml",
  "text/javascript",
  "text/css",
  "text/plain",
  "text/xsl",
  "image/svg+xml",
  "image/svg",
  "image/svg-xml",
  "image/svg+xml-compressed",
  "application/xhtml+xml",
  "application/xml",
  "application/javascript",
  "application/pdf",
  "application/wasm",
  "application/rss+xml",
  "application/mathml+xml",
  "audio/x-mpegurl",
  "application/x-shockwave-flash",
  "application/vnd.apple.mpegurl",
  "message/rfc822",
  "multipart/x-mixed-replace",
  "video/x+xml",
  "audio/x+xml",
  "image/x+xml",
  "model/gltf+json"
] as const

const draw = (dice: Dice): string => {
  const [first = "", ...rest] = shown
  let type: string = dice.chance(60)
    ? dice.pick([active[0], ...active.slice(1)])
    : dice.pick([first, ...rest])
  for (let turn = dice.roll(4); turn > 0; turn--) {
    const place = dice.roll(type.length + 1)
    const [before, after] = [type.slice(0, place), type.slice(place)]
    const changes = [
      () => type.toUpperCase(),
      () => before + after.charAt(0).toUpperCase() + after.slice(1),
      () => dice.pick([" ", "\t", "\r\n", "\u00a0", "\u0000", "\ufeff"]) + type,
      () => type + dice.pick([" ", "\t", ";", "; charset=utf-8", ";x=image/png", " ;q", ",", "/"]),
      () => before + dice.pick(["+", ".", "-", "\u0000", "\u017f", "\u212a", " ", "%"]) + after,
      () => `${type}, ${dice.pick(["image/png", "text/html", "image/svg+xml"])}`,
      () => `${dice.pick(["image/png", "video/mp4"])}${dice.pick([",", " ", ";", ""])}${type}`,
      () => `${type}${dice.pick(["+xml", "+svg", ".html", "-x"])}`,
      () => before
    ] as const
    const [change, ...others] = changes
    type = dice.pick([change, ...others])()
  }
  return type
}

/** As browsers read it: the essence of a type, whatever its case and its parameters. */
const essenceOf = (type: string): string => {
  try {
    return new MIMEType(type).essence
  } catch {
    return ""
  }
}

const leavesAs = (type: string) => {
  const { headers } = fileResponse(Stream.empty, type, { headers: {} })
  return { type: headers["content-type"], disposition: headers["content-disposition"], headers }
}

describe(`the type of a vendor's file (PROPERTY_SEED=${SEED})`, () => {
  it.each([
    ...active,
    "image/SVG+xml",
    "IMAGE/SVG+XML",
    "image/svg+xml;charset=utf-8",
    " image/svg+xml",
    "Text/HTML",
    "image/svg+xml, image/png",
    "image/png, text/html",
    "image/png\u0000",
    "image/x",
    "",
    "image"
  ])("%j is a download", (type) => {
    const left = leavesAs(type)
    assert.deepStrictEqual(
      [left.type, left.disposition],
      ["application/octet-stream", "attachment"]
    )
  })

  it.each([
    ["image/png", "image/png"],
    ["IMAGE/PNG", "image/png"],
    ["Video/MP4; codecs=avc1", "video/mp4"],
    ["\taudio/MPEG ;x", "audio/mpeg"]
  ])("%j is shown as %s", (type, served) => {
    const left = leavesAs(type)
    assert.deepStrictEqual([left.type, left.disposition], [served, undefined])
  })

  it("is one of those that are shown, or a download in a sandbox", () => {
    const seen = { shown: 0, saved: 0 }
    for (let seed = SEED; seed < SEED + CASES; seed++) {
      const said = draw(diceOf(seed))
      const { type = "", disposition, headers } = leavesAs(said)
      const told = `PROPERTY_SEED=${seed} ${JSON.stringify(said)} left as ${type}`
      const sandbox = /^(?:audio|video)/.test(type) ? "sandbox allow-same-origin" : "sandbox"
      const policy = headers["content-security-policy"]?.split("; ") ?? []
      assert.includeMembers(policy, ["default-src 'none'", sandbox], told)
      const isShown = shown.has(type)
      assert.strictEqual(disposition, isShown ? undefined : "attachment", told)
      if (isShown) assert.strictEqual(essenceOf(said), type, told)
      else assert.strictEqual(type, "application/octet-stream", told)
      seen[isShown ? "shown" : "saved"]++
    }
    assert.isAbove(Math.min(seen.shown, seen.saved), CASES / 20)
  })
})
