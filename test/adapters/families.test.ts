/**
 * What the gateway knows of a vendor's models beside what the simulated vendor serves of them. The two
 * tables are written apart, from the vendors' documents, so that a slip in one shows.
 */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { demoCatalog } from "../../src/demoCatalog.ts"
import { falDocument } from "../../src/domain/queue/documents/fal.ts"
import { replicateDocument } from "../../src/domain/queue/documents/replicate.ts"
import {
  type InputRole,
  inputRoles,
  placeMedia,
  type VideoFamily
} from "../../src/domain/video/families/VideoFamily.ts"
import type { VideoBlock } from "../../src/domain/video/VideoInput.ts"
import { type VideoProtocolRow, videoProtocols } from "../../src/domain/video/VideoProtocol.ts"
import type { ModelFamily } from "../../src/simulator/vendors/ModelFamily.ts"
import * as minimax from "../../src/simulator/vendors/minimax/families.ts"
import * as veo from "../../src/simulator/vendors/veo/families.ts"
import * as vpA from "../../src/simulator/vendors/vp_a/families.ts"
import * as vpD from "../../src/simulator/vendors/vp_d/families.ts"
import * as vpE from "../../src/simulator/vendors/vp_e/families.ts"
import * as vpF from "../../src/simulator/vendors/vp_f/families.ts"
import { knownModels } from "../support/knownModels.ts"

const rows: Readonly<Record<string, VideoProtocolRow>> = videoProtocols

interface Served {
  readonly of: (model: string) => ModelFamily
  readonly hasSwitch: (model: string) => boolean
  /** The vendor's name of a parameter, where it is another one. */
  readonly names?: Readonly<Record<string, string>>
  /** Whether the modes are the vendor's own names. */
  readonly hasPaths: boolean
}

const vendors: Readonly<Record<string, Served>> = {
  vp_a: { of: vpA.familyOf, hasSwitch: (model) => vpA.familyOf(model).makesSound, hasPaths: false },
  vp_d: {
    of: vpD.familyOf,
    hasSwitch: (model) => vpD.familyOf(model).switchesSound,
    names: { watermark: "watermark_info" },
    hasPaths: true
  },
  vp_e: { of: vpE.familyOf, hasSwitch: () => true, hasPaths: true },
  vp_f: {
    of: vpF.familyOf,
    hasSwitch: (model) => vpF.familyOf(model).switchesSound,
    hasPaths: false
  },
  veo: {
    of: veo.familyOf,
    hasSwitch: () => false,
    names: { negative_prompt: "negativePrompt", person_generation: "personGeneration" },
    hasPaths: false
  },
  minimax: {
    of: minimax.familyOf,
    hasSwitch: () => false,
    names: { watermark: "aigc_watermark" },
    hasPaths: false
  }
}

const known = knownModels.map(
  ({ upstreamModel, protocol, family }) => [upstreamModel, protocol, family] as const
)

const combinations: ReadonlyArray<ReadonlyArray<InputRole>> = [
  [],
  ["first_frame"],
  ["first_frame", "last_frame"],
  ["last_frame"],
  ["reference_image"],
  ["reference_video"],
  ["reference_image", "reference_video"],
  ["reference_image", "reference_audio"],
  ["edit_video"],
  ["extend_video"],
  ["edit_video", "reference_image"]
]

const blockOf = (role: InputRole): VideoBlock => {
  const url = "https://media.example/1"
  switch (role) {
    case "reference_video":
      return { type: "video", url }
    case "edit_video":
    case "extend_video":
      return { type: "video", role, url }
    case "reference_audio":
      return { type: "audio", url }
    default:
      return { type: "image", role, url }
  }
}

const mostOf = ({ forms }: VideoFamily, role: InputRole) =>
  Math.max(0, ...forms.map(({ takes }) => takes[role] ?? 0))

const servedMost = ({ modes }: ModelFamily, role: InputRole) =>
  Math.max(0, ...Object.values(modes).map((limits) => limits?.[role] ?? 0))

describe("the families of models", () => {
  it.each(known)("%s of %s is what its vendor serves", (model, protocol, family) => {
    const vendor = vendors[protocol]
    assert.isDefined(vendor)
    const served = vendor.of(model)
    assert.deepStrictEqual(
      {
        seconds: family.seconds,
        only: family.onlySeconds,
        isSmart: family.isSmart ?? false,
        resolutions: family.resolutions.map((one) => one.toLowerCase()),
        hasSwitch: family.sound === "switch",
        most: inputRoles.map((role) => [role, mostOf(family, role)])
      },
      {
        seconds: served.seconds,
        only: served.onlySeconds,
        isSmart: served.choosesSeconds,
        resolutions: served.resolutions.map((one) => one.toLowerCase()),
        hasSwitch: vendor.hasSwitch(model),
        most: inputRoles.map((role) => [role, servedMost(served, role)])
      }
    )
    for (const name of Object.keys(rows[protocol]?.parameters ?? {})) {
      const isServed = served.parameters.includes(vendor.names?.[name] ?? name)
      assert.strictEqual(family.parameters.includes(name), isServed, name)
    }
  })

  it.each(known.filter(([, protocol]) => vendors[protocol]?.hasPaths))(
    "%s of %s is ordered where its vendor has it",
    (model, protocol, family) => {
      for (const roles of combinations) {
        const placed = placeMedia(family, roles.map(blockOf))
        const modes = Object.entries(vendors[protocol]?.of(model).modes ?? {})
        const fits = modes.filter(([, limits]) =>
          roles.every((role) => limits?.[role] !== undefined)
        )
        const label = roles.join(" and ")
        if (Result.isSuccess(placed)) {
          assert.include(
            fits.map(([mode]) => mode),
            placed.success.mode,
            label
          )
        } else if (roles.length > 0) assert.deepStrictEqual(fits, [], label)
      }
    }
  )

  it("have a model each in the demo", () => {
    for (const [protocol, { families = [] }] of Object.entries(rows)) {
      const shown = known
        .filter(([, called]) => called === protocol)
        .map(([, , family]) => family.name)
      for (const { name } of vendors[protocol] === undefined ? [] : families) {
        assert.include(shown, name)
      }
    }
  })

  it("of documents are in the demo by their ids", () => {
    const upstreamModels = demoCatalog("http://127.0.0.1:1").mounts.map(
      ({ upstream_model }) => upstream_model
    )
    for (const { models } of [falDocument, replicateDocument]) {
      for (const { id } of models) assert.include(upstreamModels, id)
    }
  })
})
