/** Where calls go, however the operator wrote the vendor's base address. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { builtInProtocols } from "../../src/domain/catalog/ProtocolTables.ts"
import { type ChannelAccount, ProtocolAdapter } from "../../src/services/ProtocolAdapter.ts"
import { brokenVendor } from "../support/brokenVendor.ts"
import { accountAt, layerOverSockets, orderOf } from "./support.ts"

interface Base {
  readonly protocol: string
  /** The protocol its model is listed under, where that is another. */
  readonly listed?: string
  /** The vendor's model, where the protocol knows some alone. */
  readonly model?: string
  /** What vendors' documents count to the base at times, beside nothing at all. */
  readonly versions: ReadonlyArray<string>
  /** Where an order goes from each of them. */
  readonly order: string
}

const relayVersions = ["/v1", "/api/v1"]

const cases: ReadonlyArray<Base> = [
  { protocol: "vp_a", versions: ["/api/v3"], order: "/api/v3/contents/generations/tasks" },
  { protocol: "vp_b", versions: ["/v2"], order: "/v2/video/tasks" },
  {
    protocol: "vp_c",
    listed: "vp_a",
    versions: [...relayVersions, "/doubao/v1"],
    order: "/doubao/v1/videos/generations/submit"
  },
  {
    protocol: "vp_c",
    listed: "vp_d",
    versions: [...relayVersions, "/kling/v1"],
    order: "/kling/v1/videos/text2video"
  },
  {
    protocol: "vp_c",
    listed: "vp_e",
    versions: [...relayVersions, "/vidu/ent/v2"],
    order: "/vidu/ent/v2/text2video"
  },
  {
    protocol: "vp_c",
    listed: "vp_f",
    versions: [...relayVersions, "/qwen/api/v1"],
    order: "/qwen/api/v1/services/aigc/video-generation/generation"
  },
  { protocol: "vp_d", versions: [], order: "/text-to-video/m-1" },
  { protocol: "vp_e", versions: ["/ent/v2"], order: "/ent/v2/text2video" },
  {
    protocol: "vp_f",
    versions: ["/api/v1"],
    order: "/api/v1/services/aigc/video-generation/video-synthesis"
  },
  { protocol: "veo", versions: ["/v1beta"], order: "/v1beta/models/m-1:predictLongRunning" },
  { protocol: "minimax", versions: ["/v2", "/v1"], order: "/v2/video_generation" },
  {
    protocol: "fal",
    model: "fal-ai/bytedance/seedance/v1/pro/text-to-video",
    versions: [],
    order: "/fal-ai/bytedance/seedance/v1/pro/text-to-video"
  },
  {
    protocol: "replicate",
    model: "bytedance/seedance-1-pro",
    versions: ["/v1"],
    order: "/v1/models/bytedance/seedance-1-pro/predictions"
  },
  { protocol: "ip_a", versions: ["/v1"], order: "/v1/images/generations" },
  {
    protocol: "ip_b",
    versions: ["/api/v1"],
    order: "/api/v1/services/aigc/multimodal-generation/generation"
  },
  {
    protocol: "ip_c",
    versions: [...relayVersions, "/qwen/api/v1"],
    order: "/qwen/api/v1/services/aigc/image-generation/generation"
  },
  { protocol: "gemini", versions: ["/v1beta"], order: "/v1beta/models/m-1:generateContent" },
  { protocol: "openai", versions: ["/v1"], order: "/v1/chat/completions" },
  { protocol: "openai_responses", versions: ["/v1"], order: "/v1/chat/completions" },
  { protocol: "jina", versions: ["/v1"], order: "/v1/rerank" },
  {
    protocol: "elevenlabs",
    versions: ["/v1"],
    order: "/v1/text-to-speech/a/stream?output_format=mp3_44100_128"
  },
  {
    protocol: "dashscope",
    versions: ["/api/v1"],
    order: "/api/v1/services/aigc/multimodal-generation/generation"
  }
]

const spellings = cases.flatMap((one) =>
  [
    ["", ""] as const,
    ...one.versions.flatMap((version) => [["", version] as const, ["/proxy", version] as const])
  ].flatMap(([root, version]) =>
    ["", "/", "//"].map((slashes) => ({
      ...one,
      name: one.listed ?? "itself",
      root,
      base: `${root}${version}${slashes}`
    }))
  )
)

/** An order and the check of the account, whatever comes of them. */
const callBoth = Effect.fnUntraced(function* (
  { protocol, listed, model: upstreamModel = "m-1" }: Base,
  account: ChannelAccount
) {
  const { video, image, text, rerank, audio } = yield* ProtocolAdapter
  const messages = [{ role: "user", content: "a lighthouse" }] as const
  const documents = ["a lighthouse"]
  const body = { model: "m-1", prompt: "a lighthouse", query: "a", documents, messages }
  const order = { upstreamModel: "m-1", body }
  const spoken = { model: "m-1", input: "a lighthouse", voice: "a" }
  const ordering =
    video
      .get(protocol)
      ?.submit(account, orderOf({ upstreamModel, listedProtocol: listed ?? protocol })) ??
    image.get(protocol)?.generate(account, order) ??
    text.get(protocol)?.complete(account, order) ??
    rerank?.get(protocol)?.rerank(account, order) ??
    audio?.get(protocol)?.speech?.speak(account, { ...order, body: spoken }, () => Effect.void)
  const check = (
    video.get(protocol) ??
    image.get(protocol) ??
    text.get(protocol) ??
    rerank?.get(protocol) ??
    audio?.get(protocol)
  )?.check
  yield* Effect.ignore(ordering ?? Effect.void)
  yield* Effect.ignore(check?.(account) ?? Effect.void)
})

const targetsFrom = Effect.fnUntraced(function* (one: Base, base: string) {
  const vendor = yield* brokenVendor({ status: 404, body: {} })
  yield* callBoth(one, accountAt(`${vendor.url}${base}`))
  return (yield* vendor.requests).map(({ target }) => target)
})

layer(layerOverSockets)("the base address", (it) => {
  it("is known for every protocol", () => {
    assert.sameMembers(
      [...new Set(cases.map(({ protocol }) => protocol))],
      [...new Set(Object.values(builtInProtocols).flatMap((table) => [...table.keys()]))]
    )
  })

  it.effect.each(spellings)("of $protocol as $name may be written https://host$base", (one) =>
    Effect.gen(function* () {
      const [, check] = yield* targetsFrom(one, "")
      assert.isDefined(check)
      assert.deepStrictEqual(
        yield* targetsFrom(one, one.base),
        [one.order, check].map((target) => `${one.root}${target}`)
      )
    })
  )
})
