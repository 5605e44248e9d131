/** vp_c: a relay of other vendors; it speaks like the protocol the catalog lists a model under. */
import { Effect } from "effect"
import { VendorUnreachable } from "../../domain/VendorOutcome.ts"
import type { RelayFamily } from "../../domain/video/VideoProtocol.ts"
import type { VideoAdapter } from "../../services/ProtocolAdapter.ts"
import { Protocols } from "../../services/Protocols.ts"
import { relayRoot, videoSegments } from "../relay.ts"
import { saysError } from "../wire/errorText.ts"
import { VendorLimits } from "../wire/limits.ts"
import { VendorWire } from "../wire/VendorWire.ts"
import { refusal } from "../wire/vendorFailures.ts"
import { send } from "../wire/vendorHttp.ts"
import { bearer, get, post } from "../wire/vendorRequest.ts"
import type { Family } from "./Family.ts"
import { familyA } from "./familyA.ts"
import { familyD } from "./familyD.ts"
import { familyE } from "./familyE.ts"
import { familyF } from "./familyF.ts"

// To the vendor

const families: Readonly<Record<RelayFamily, Family>> = {
  a: familyA,
  d: familyD,
  e: familyE,
  f: familyF
}

// Calls

export const makeVpC = Effect.gen(function* () {
  const wire = yield* VendorWire
  const limits = yield* VendorLimits
  const protocols = yield* Protocols

  /** Orders without a family are refused before they come here, so nothing was sent for them. */
  const familyOf = (listedProtocol: string) => {
    const name = protocols.video.get(listedProtocol)?.relayFamily ?? null
    return name === null
      ? Effect.fail(
          new VendorUnreachable({
            message: `The relay serves no model listed as ${listedProtocol}`
          })
        )
      : Effect.succeed({ family: families[name], segment: videoSegments[name] })
  }

  const submit: VideoAdapter["submit"] = Effect.fn("vp_c.submit")(function* (account, order) {
    const { family, segment } = yield* familyOf(order.listedProtocol)
    const submit = yield* Effect.fromResult(family.toSubmit(order))
    const url = `${relayRoot(account.baseUrl)}/${segment}${submit.path}`
    const request = post(url, bearer(account), submit.body)
    const answer = yield* send(wire, request, limits.submit)
    // The relay tells its own refusals also with HTTP 200, beside whatever else the body holds.
    if (saysError(answer.body)) return yield* Effect.fail(refusal(account, answer))
    return yield* Effect.fromResult(family.readSubmitted(account, answer, submit))
  })

  const poll: VideoAdapter["poll"] = Effect.fnUntraced(function* (account, task) {
    const { family, segment } = yield* familyOf(task.listedProtocol)
    const url = `${relayRoot(account.baseUrl)}/${segment}${family.pollPath(task.upstreamId)}`
    const request = get(url, bearer(account))
    const answer = yield* send(wire, request, limits.poll)
    if (answer.status === 404) return { _tag: "Unknown" as const }
    return yield* Effect.fromResult(family.readPolled(account, answer))
  })

  const extras: VideoAdapter["extras"] = (listedProtocol) => {
    const name = protocols.video.get(listedProtocol)?.relayFamily ?? null
    return name === null ? [] : families[name].extras
  }

  return { submit, poll, extras } satisfies VideoAdapter
})
