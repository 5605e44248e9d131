/** vp_c: a relay of other vendors; it speaks like the protocol the catalog lists a model under. */
import { Effect, Result } from "effect"
import type { ProtocolTables } from "../../domain/catalog/ProtocolTables.ts"
import { VendorUnreachable } from "../../domain/VendorOutcome.ts"
import type { RelayFamily } from "../../domain/video/VideoProtocol.ts"
import { type ChannelAccount, Protocols } from "../../services/ProtocolAdapter.ts"
import { type VideoDialect, videoCalls } from "../common/adapterCalls.ts"
import { contentRefusals } from "../common/contentErrors.ts"
import { cloudRefusals } from "../common/flatErrors.ts"
import { familyAccount, relayedRefusals, relayRefusals } from "../common/relay.ts"
import { unknownTask } from "../common/videoStatus.ts"
import { codeRefusals } from "../vp_d.ts"
import { reasonRefusals, vpE } from "../vp_e.ts"
import { toBody, vpF } from "../vp_f.ts"
import { saysError } from "../wire/errorText.ts"
import type { RefusalTable } from "../wire/refusalTable.ts"
import { refusal } from "../wire/vendorFailures.ts"
import { bearer, get, post, rootOf, type VendorRequest } from "../wire/vendorRequest.ts"
import { familyA } from "./familyA.ts"
import { familyD } from "./familyD.ts"

// Wire schemas: those of the families

// To the vendor

const families: Readonly<Record<RelayFamily, VideoDialect>> = {
  a: familyA,
  d: familyD,
  e: vpE,
  // vp_f's envelope and answers on paths that differ a little.
  f: {
    ...vpF,
    submitRequest: (account, order) => {
      const url = `${rootOf(account)}/api/v1/services/aigc/video-generation/generation`
      return Result.map(toBody(order), (body) => post(url, bearer(account), body))
    },
    pollRequest: (account, { upstreamId }) => {
      const url = `${rootOf(account)}/api/v1/tasks/video/${encodeURIComponent(upstreamId)}`
      return Result.succeed(get(url, bearer(account)))
    }
  }
}

/** Orders without a family are refused before they come here, so nothing was sent for them. */
const familyOf = ({ video }: ProtocolTables, listedProtocol: string) => {
  const family = video.get(listedProtocol)?.relayFamily ?? null
  const message = `The relay serves no model listed as ${listedProtocol}`
  return family === null
    ? Result.fail(new VendorUnreachable({ message }))
    : Result.succeed({ family, dialect: families[family] })
}

/** The relay takes the key in one form for all families. */
const withBearer =
  (account: ChannelAccount) =>
  (request: VendorRequest): VendorRequest => ({
    ...request,
    headers: { ...request.headers, ...bearer(account) }
  })

const requests = (
  protocols: ProtocolTables
): Pick<VideoDialect, "submitRequest" | "pollRequest"> => ({
  submitRequest: (account, order) =>
    Result.flatMap(familyOf(protocols, order.listedProtocol), ({ family, dialect }) =>
      Result.map(dialect.submitRequest(familyAccount(account, family), order), withBearer(account))
    ),
  pollRequest: (account, task) =>
    Result.flatMap(familyOf(protocols, task.listedProtocol), ({ family, dialect }) =>
      Result.map(dialect.pollRequest(familyAccount(account, family), task), withBearer(account))
    )
})

// From the vendor

const tables: Readonly<Record<RelayFamily, RefusalTable>> = {
  a: relayedRefusals(contentRefusals),
  d: relayedRefusals(codeRefusals),
  e: relayedRefusals(reasonRefusals),
  f: relayedRefusals(cloudRefusals)
}

const readers = (
  protocols: ProtocolTables
): Pick<VideoDialect, "readSubmitted" | "readPolled" | "refusals"> => ({
  // The relay tells its own refusals also with HTTP 200, beside whatever else the body holds.
  readSubmitted: (account, answer, order) =>
    saysError(answer.body)
      ? Result.fail(refusal(account, answer))
      : Result.flatMap(familyOf(protocols, order.listedProtocol), ({ dialect }) =>
          dialect.readSubmitted(account, answer, order)
        ),
  readPolled: (account, answer, task) =>
    answer.status === 404
      ? unknownTask
      : Result.flatMap(familyOf(protocols, task.listedProtocol), ({ dialect }) =>
          dialect.readPolled(account, answer, task)
        ),
  refusals: (listedProtocol) => {
    const family = protocols.video.get(listedProtocol)?.relayFamily ?? null
    return family === null ? relayRefusals : tables[family]
  }
})

// Calls

export const makeVpC = Effect.flatMap(Protocols, (protocols) =>
  videoCalls("vp_c", {
    ...requests(protocols),
    ...readers(protocols),
    // One key is for all families, so any of them can be asked.
    noTask: { listedProtocol: "vp_f" }
  })
)
