/** vp_c: a relay of other vendors; it speaks like the protocol the catalog lists a model under. */
import { Effect, Result } from "effect"
import type { ProtocolTables } from "../../domain/catalog/ProtocolTables.ts"
import { VendorUnreachable } from "../../domain/VendorOutcome.ts"
import type { RelayFamily } from "../../domain/video/VideoProtocol.ts"
import { Protocols, type VideoTaskRef } from "../../services/ProtocolAdapter.ts"
import { type VideoDialect, videoCalls } from "../common/adapterCalls.ts"
import { relayRoot, videoSegments } from "../common/relay.ts"
import { unknownTask } from "../common/videoStatus.ts"
import * as vp_e from "../vp_e.ts"
import * as vp_f from "../vp_f.ts"
import { saysError } from "../wire/errorText.ts"
import { refusal } from "../wire/vendorFailures.ts"
import { bearer, get, post } from "../wire/vendorRequest.ts"
import type { Family } from "./Family.ts"
import { familyA } from "./familyA.ts"
import { familyD } from "./familyD.ts"

// Wire schemas: those of the families

// To the vendor

const families: Readonly<Record<RelayFamily, Family>> = {
  a: familyA,
  d: familyD,
  // vp_e's interface, unchanged except for the scheme of the key.
  e: {
    toSubmit: vp_e.toSubmit,
    readSubmitted: vp_e.readSubmitted,
    pollPath: vp_e.pollPath,
    readPolled: vp_e.readPolled,
    extras: vp_e.extras
  },
  // vp_f's envelope and answers on paths that differ a little.
  f: {
    toSubmit: (order) =>
      Result.map(vp_f.toBody(order), (body) => ({
        path: "/api/v1/services/aigc/video-generation/generation",
        body
      })),
    readSubmitted: vp_f.readSubmitted,
    pollPath: (upstreamId) => `/api/v1/tasks/video/${encodeURIComponent(upstreamId)}`,
    readPolled: vp_f.readPolled,
    extras: vp_f.extras
  }
}

/** Orders without a family are refused before they come here, so nothing was sent for them. */
const familyOf = (
  { video }: ProtocolTables,
  { listedProtocol }: Pick<VideoTaskRef, "listedProtocol">
) => {
  const name = video.get(listedProtocol)?.relayFamily ?? null
  const message = `The relay serves no model listed as ${listedProtocol}`
  return name === null
    ? Result.fail(new VendorUnreachable({ message }))
    : Result.succeed({ family: families[name], segment: videoSegments[name] })
}

const requests = (
  protocols: ProtocolTables
): Pick<VideoDialect, "submitRequest" | "pollRequest"> => ({
  submitRequest: (account, order) =>
    Result.flatMap(familyOf(protocols, order), ({ family, segment }) =>
      Result.map(family.toSubmit(order), ({ path, body }) =>
        post(`${relayRoot(account)}/${segment}${path}`, bearer(account), body)
      )
    ),
  pollRequest: (account, task) =>
    Result.map(familyOf(protocols, task), ({ family, segment }) =>
      get(`${relayRoot(account)}/${segment}${family.pollPath(task.upstreamId)}`, bearer(account))
    )
})

// From the vendor

const readers = (
  protocols: ProtocolTables
): Pick<VideoDialect, "readSubmitted" | "readPolled"> => ({
  // The relay tells its own refusals also with HTTP 200, beside whatever else the body holds.
  readSubmitted: (account, answer, order) =>
    saysError(answer.body)
      ? Result.fail(refusal(account, answer))
      : Result.flatMap(familyOf(protocols, order), ({ family }) =>
          family.readSubmitted(account, answer, order)
        ),
  readPolled: (account, answer, task) =>
    answer.status === 404
      ? unknownTask
      : Result.flatMap(familyOf(protocols, task), ({ family }) =>
          family.readPolled(account, answer, task)
        )
})

// Calls

export const makeVpC = Effect.flatMap(Protocols, (protocols) =>
  videoCalls("vp_c", {
    ...requests(protocols),
    ...readers(protocols),
    extras: (listedProtocol) =>
      Result.match(familyOf(protocols, { listedProtocol }), {
        onFailure: () => [],
        onSuccess: ({ family }) => family.extras
      })
  })
)
