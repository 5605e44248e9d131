/** Videos that their own vendor extends: which of them it takes, and by which address and key. */
import { assert, it } from "@effect/vitest"
import { Result } from "effect"
import type { EarlierVideo } from "../../src/orders/video/earlierVideos.ts"
import { extendAt } from "../../src/orders/video/ownVideos.ts"

const FILE = "https://vendor.test/v1beta/files/a:download"
const ID = "vt_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e"
const DAY_MILLIS = 86_400_000
const endedAt = new Date("2026-01-01T00:00:00Z")

const task = {
  channelId: "google",
  protocol: "veo",
  keyName: "first",
  videoUrl: FILE,
  kind: { model: "shot", seconds: 8, resolution: "720p" },
  ratio: null,
  finishedAt: endedAt
} as const

const extended = (url: string) => [{ type: "video", role: "extend_video", url } as const]

const outcomeOf = (
  days: number,
  {
    blocks = extended(ID),
    ...more
  }: Partial<EarlierVideo["task"]> & {
    readonly blocks?: Parameters<typeof extendAt>[0]
  } = {}
) =>
  Result.match(
    extendAt(
      blocks,
      {
        channelId: "google",
        protocol: "veo",
        ownVideos: { resolutions: ["720p"], keptSeconds: 2 * 86_400 }
      },
      {
        earlier: { task: { ...task, ...more }, address: null, seconds: 8 },
        nowMillis: endedAt.getTime() + days * DAY_MILLIS
      }
    ),
    { onSuccess: (value) => value, onFailure: ({ message }) => message }
  )

it("a video of the last two days is extended by its vendor's address and key", () => {
  assert.deepStrictEqual<unknown>(outcomeOf(2), { blocks: extended(FILE), keyName: "first" })
})

it.each([
  ["after two days", 2.01, {}, "older than the 2 days"],
  ["of another channel", 0, { channelId: "other" }, "the same channel"],
  ["of another protocol", 0, { protocol: "minimax" }, "the same channel"],
  ["of unknown resolution", 0, { kind: null }, "another resolution"],
  ["without a file", 0, { videoUrl: null }, "made itself"]
] as const)("a video is not extended %s", (_, days, more, message) => {
  assert.include(outcomeOf(days, more), message)
})

it("an order that extends nothing stays as it is", () => {
  const blocks = [{ type: "text", text: "a lighthouse" } as const]
  assert.deepStrictEqual<unknown>(outcomeOf(9, { blocks }), { blocks, keyName: null })
})
