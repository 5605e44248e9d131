import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { CatalogDocument } from "../../../src/domain/catalog/CatalogDocument.ts"
import { findFaults, findWarnings } from "../../../src/domain/catalog/CatalogRules.ts"
import { builtInProtocols } from "../../../src/domain/catalog/ProtocolTables.ts"

const tokenVideo = {
  kind: "token_video",
  per_million_tokens: { base: { without_video: "46", with_video: "28" } }
}
const secondVideo = {
  kind: "second_video",
  per_second: { "720p": "0.6", "1080p": "0.8", "2K": "1.5" }
}
const only1080p = { kind: "token_video", per_million_tokens: { "1080p": { without_video: "51" } } }

interface Case {
  readonly protocol: string
  readonly modality?: string
  readonly prices?: object
  readonly limits?: object
  readonly mount?: {
    readonly protocol?: string
    readonly limits?: object
    readonly upstream_model?: string
  }
}

const documentOf = ({ protocol, modality = "video", prices, limits, mount }: Case) =>
  Schema.decodeUnknownSync(CatalogDocument)({
    channels: [{ id: "c", name: "C", base_url: "https://c.example", app_id: "app" }],
    models: [
      {
        id: "m",
        modality,
        protocol,
        ...(prices === undefined ? {} : { prices }),
        ...(limits === undefined ? {} : { limits })
      }
    ],
    mounts: mount === undefined ? [] : [{ model: "m", channel: "c", ...mount }]
  })

const faultsOf = (catalog: Case) =>
  findFaults(documentOf(catalog), builtInProtocols).map(({ path }) => path)

const warningsOf = (catalog: Case) =>
  findWarnings(documentOf(catalog), builtInProtocols, new Map()).filter(({ path }) =>
    path.includes("limits")
  )

const clip = { protocol: "vp_d", prices: secondVideo } as const
const film = { protocol: "vp_a", prices: tokenVideo } as const

describe("limits of a video model", () => {
  it.each([
    { ...clip, limits: { seconds: [3, 30], resolutions: ["720p", "1080p", "4K"] } },
    { ...clip, limits: { seconds: { one_of: [4, 6, 8] }, resolutions: ["768p", "2K"] } },
    { ...film, limits: { seconds: [4, 30], smart: true, resolutions: ["768p", "2K"] } },
    { ...film, limits: { seconds: [4, 30] }, mount: { limits: { seconds: [5, 10] } } },
    { ...film, mount: { limits: { seconds: [5, 10], resolutions: ["720p"], smart: false } } },
    { ...film, limits: { inputs: { first_frame: 1 }, max_prompt: 100, silent: false } },
    { ...film, limits: { ratios: ["21:9"] }, mount: { limits: { ratios: ["21:9"] } } },
    { ...film, limits: { input_video_seconds: 20, seconds: [4, 30] } },
    { protocol: "vp_e", prices: secondVideo, limits: { resolutions: ["2K"] } },
    { protocol: "vp_f", prices: secondVideo, limits: { resolutions: ["2K"] } },
    { protocol: "vp_b", prices: tokenVideo, limits: { seconds: [4, 30], smart: true } }
  ])("of %j have no fault", (catalog) => {
    assert.deepStrictEqual(faultsOf(catalog), [])
  })

  it.each([
    [{ ...clip, limits: { seconds: [30, 3] } }, ["models[0].limits.seconds"]],
    [{ ...clip, limits: { seconds: { one_of: [] } } }, ["models[0].limits.seconds.one_of"]],
    [
      { ...clip, limits: { seconds: { one_of: [4, 6, 4] } } },
      ["models[0].limits.seconds.one_of[2]"]
    ],
    [{ ...clip, limits: { resolutions: [] } }, ["models[0].limits.resolutions"]],
    [{ ...clip, limits: { resolutions: ["720p", "720p"] } }, ["models[0].limits.resolutions[1]"]],
    [{ ...clip, limits: { ratios: [] } }, ["models[0].limits.ratios"]],
    [{ ...clip, limits: { ratios: ["1:1", "1:1"] } }, ["models[0].limits.ratios[1]"]],
    [{ ...clip, limits: { silent: false, sound: false } }, ["models[0].limits.sound"]],
    [{ ...clip, limits: { smart: true } }, ["models[0].limits.smart"]],
    [{ protocol: "vp_e", limits: { smart: true } }, ["models[0].limits.smart"]],
    [
      { protocol: "vp_c", prices: secondVideo, limits: { smart: true } },
      ["models[0].limits.smart"]
    ],
    [{ ...clip, limits: { resolutions: ["480p"] } }, ["models[0].limits.resolutions"]],
    [
      { protocol: "vp_a", prices: only1080p, limits: { resolutions: ["720p", "2K"] } },
      ["models[0].limits.resolutions"]
    ],
    [
      {
        ...clip,
        limits: { resolutions: ["720p", "4K"] },
        mount: { limits: { resolutions: ["4K"] } }
      },
      ["mounts[0].limits.resolutions"]
    ],
    [
      { protocol: "vp_b", prices: tokenVideo, limits: { resolutions: ["720p"] } },
      ["models[0].limits.resolutions[0]"]
    ],
    [
      {
        ...clip,
        limits: { resolutions: ["720p", "2K"] },
        mount: { protocol: "vp_c", upstream_model: "kling-v4" }
      },
      ["models[0].limits.resolutions[1]"]
    ],
    [
      {
        protocol: "vp_f",
        prices: secondVideo,
        limits: { resolutions: ["720p", "2K"] },
        mount: { upstream_model: "wan2.6-t2v" }
      },
      ["models[0].limits.resolutions[1]"]
    ],
    [
      {
        protocol: "vp_f",
        prices: secondVideo,
        limits: { ratios: ["16:9", "21:9"] },
        mount: { upstream_model: "wan2.6-t2v" }
      },
      ["models[0].limits.ratios[1]"]
    ],
    [
      {
        protocol: "vp_f",
        prices: secondVideo,
        mount: { upstream_model: "wan2.7-t2v", limits: { sound: false } }
      },
      ["mounts[0].limits.sound"]
    ],
    [
      { ...clip, limits: { silent: false }, mount: { upstream_model: "kling-o1" } },
      ["models[0].limits.silent"]
    ],
    [
      {
        protocol: "vp_f",
        prices: secondVideo,
        limits: { resolutions: ["2K"] },
        mount: { upstream_model: "x2.5-r2v" }
      },
      ["models[0].limits.resolutions[0]"]
    ],
    [
      { modality: "chat", protocol: "openai", limits: { seconds: [3, 30] } },
      ["models[0].limits.seconds"]
    ],
    [
      { modality: "image", protocol: "ip_a", mount: { limits: { resolutions: ["720p"] } } },
      ["mounts[0].limits.resolutions"]
    ]
  ] satisfies ReadonlyArray<readonly [Case, ReadonlyArray<string>]>)(
    "of %j contradict themselves in %j",
    (catalog, paths) => {
      assert.deepStrictEqual(faultsOf(catalog), paths)
    }
  )

  it.each([
    [{ seconds: [3, 30] }, { seconds: [3, 31] }, "seconds"],
    [undefined, { seconds: [3, 16] }, "seconds"],
    [{ seconds: { one_of: [4, 8] } }, { seconds: [4, 8] }, "seconds"],
    [{ resolutions: ["720p"] }, { resolutions: ["720p", "1080p"] }, "resolutions"],
    [undefined, { resolutions: ["720p", "2K"] }, "resolutions"],
    [{ ratios: ["1:1"] }, { ratios: ["16:9"] }, "ratios"],
    [undefined, { ratios: ["21:9"] }, "ratios"],
    [{ max_prompt: 100 }, { max_prompt: 101 }, "max_prompt"],
    [{ inputs: { first_frame: 1 } }, { inputs: { last_frame: 1 } }, "inputs.last_frame"],
    [{ silent: false }, { silent: true }, "silent"],
    [{ sound: false }, { sound: true }, "sound"]
  ])("%j of a model cannot be widened by a mount to %j", (limits, ofMount, field) => {
    const catalog = { ...clip, ...(limits === undefined ? {} : { limits }) }
    assert.deepStrictEqual(faultsOf({ ...catalog, mount: { limits: ofMount } }), [
      `mounts[0].limits.${field}`
    ])
  })
})

describe("limits beyond what a known vendor's table has", () => {
  it.each([
    [
      { ...clip, limits: { seconds: [3, 30] }, mount: { upstream_model: "kling-v3" } },
      "models[0].limits.seconds",
      'Kling 3.0, which vp_d calls as "kling-v3", has 3 to 15 seconds; the vendor may refuse what is beyond that'
    ],
    [
      { ...clip, limits: { resolutions: ["720p", "2K"] }, mount: { upstream_model: "kling-v3" } },
      "models[0].limits.resolutions",
      'Kling 3.0, which vp_d calls as "kling-v3", has 720p, 1080p, 4K; the vendor may refuse what is beyond that'
    ],
    [
      {
        ...film,
        limits: { smart: true },
        mount: { upstream_model: "doubao-seedance-1-0-pro" }
      },
      "models[0].limits.smart",
      'Seedance 1.0, which vp_a calls as "doubao-seedance-1-0-pro", has no duration that the model chooses; the vendor may refuse what is beyond that'
    ],
    [
      {
        ...clip,
        limits: { inputs: { reference_image: 3 } },
        mount: { upstream_model: "kling-v3" }
      },
      "models[0].limits.inputs",
      'Kling 3.0, which vp_d calls as "kling-v3", has no reference_image; the vendor may refuse what is beyond that'
    ],
    [
      { ...clip, limits: { ratios: ["21:9"] }, mount: { upstream_model: "kling-v3" } },
      "models[0].limits.ratios",
      'Kling 3.0, which vp_d calls as "kling-v3", has 16:9, 9:16, 1:1; the vendor may refuse what is beyond that'
    ]
  ] satisfies ReadonlyArray<readonly [Case, string, string]>)(
    "of %j are accepted with a warning",
    (catalog, path, message) => {
      assert.deepStrictEqual(faultsOf(catalog), [])
      assert.deepStrictEqual(warningsOf(catalog), [{ path, message }])
    }
  )

  it.each([
    { ...clip, limits: { seconds: [3, 30] }, mount: { upstream_model: "kling-v4" } },
    { ...film, limits: { seconds: [4, 30] }, mount: { upstream_model: "doubao-seedance-2-5" } },
    { ...clip, limits: { seconds: [3, 15] }, mount: { upstream_model: "kling-v2-6" } },
    {
      ...clip,
      limits: { seconds: [3, 30] },
      mount: { upstream_model: "kling-v3", limits: { seconds: [3, 15] } }
    },
    { ...film, limits: { smart: true }, mount: { upstream_model: "doubao-seedance-2-0" } }
  ])("of %j need no warning", (catalog) => {
    assert.deepStrictEqual(warningsOf(catalog), [])
  })
})
