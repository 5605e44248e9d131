/**
 * vp_c: a relay to other vendors, which uses the form of the protocol under which the catalog lists
 * a model.
 */
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
import { reasonRefusals, relayedVpE } from "../vp_e.ts"
import { toBody, vpF } from "../vp_f.ts"
import { isErrorText } from "../wire/errorText.ts"
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
  e: relayedVpE,
  // Family f has the bodies and answers of vp_f, on other paths.
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

/**
 * The family of a protocol. Fails as unreachable for a protocol without a family, because nothing
 * was sent; orders for such a protocol are refused earlier.
 */
const familyOf = ({ video }: ProtocolTables, listedProtocol: string) => {
  const family = video.get(listedProtocol)?.relayFamily ?? null
  const message = `The relay serves no model listed as ${listedProtocol}`
  return family === null
    ? Result.fail(new VendorUnreachable({ message }))
    : Result.succeed({ family, dialect: families[family] })
}

/** All families of the relay expect the key as a bearer token. */
const withBearer =
  (account: ChannelAccount) =>
  (request: VendorRequest): VendorRequest => ({
    ...request,
    headers: { ...request.headers, ...bearer(account) }
  })

const makeRequests = (
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

const makeReaders = (
  protocols: ProtocolTables
): Pick<VideoDialect, "readSubmitted" | "readPolled" | "refusals"> => ({
  // An error in the body is read first, because the relay's own refusals may come with HTTP 200,
  // next to other fields.
  readSubmitted: (account, answer, order) =>
    isErrorText(answer.body)
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
    ...makeRequests(protocols),
    ...makeReaders(protocols),
    // The check polls family f, but any family would do, because the same key works for all.
    noTask: { listedProtocol: "vp_f" }
  })
)
