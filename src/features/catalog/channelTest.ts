/** Tests a channel: sends requests to its vendor that create nothing and cost nothing. */
import { Effect, Option, Result } from "effect"
import type { NewAccount } from "../../domain/catalog/CatalogDocument.ts"
import { addressFault, mountProtocol } from "../../domain/catalog/CatalogRules.ts"
import { InvalidRequest } from "../../domain/Errors.ts"
import { accountStatuses, type VendorFailure } from "../../domain/VendorOutcome.ts"
import { monotonicMillis } from "../../runtime/monotonic.ts"
import { Catalog, type CatalogSnapshot, noSuchChannel } from "../../services/Catalog.ts"
import { ChannelCredentials } from "../../services/channels/ChannelCredentials.ts"
import {
  type ChannelAccount,
  ProtocolAdapter,
  type VendorCheck
} from "../../services/ProtocolAdapter.ts"
import type { AccountCheckView, ChannelCheckView } from "./ChannelsApi.ts"

const MAX_CONCURRENT_CHECKS = 4

/** An account with the name of its key; null for an account that is not in the catalog. */
type CheckedAccount = ChannelAccount & Record<"keyName", string | null>

/** The result where no request could be sent to the vendor. */
const unchecked = (
  protocol: string | null,
  keyName: string | null,
  message: string
): ChannelCheckView => ({
  protocol,
  key: keyName,
  reachable: null,
  tls: null,
  credential_accepted: null,
  duration_ms: null,
  message
})

/**
 * Whether the vendor accepted the credential; null where the failure does not tell. Only a refusal
 * of the account means that the credential was not accepted.
 */
const isAcceptedAfter = (failure: VendorFailure | null): boolean | null => {
  if (failure === null) return true
  const isRefused = failure._tag === "VendorRefused" && accountStatuses.has(failure.effectiveStatus)
  return isRefused ? false : null
}

const isReachableAfter = (failure: VendorFailure | null): boolean =>
  failure === null ||
  failure._tag === "VendorRefused" ||
  (failure._tag === "VendorLost" && failure.reason === "broken_answer")

const runCheck = Effect.fnUntraced(function* (
  protocol: string,
  account: CheckedAccount,
  check: VendorCheck
) {
  const startedAt = yield* monotonicMillis
  const failure = yield* Effect.match(check(account), {
    onFailure: (failure) => failure,
    onSuccess: () => null
  })
  const durationMs = Math.round((yield* monotonicMillis) - startedAt)
  const isReachable = isReachableAfter(failure)
  const isInsecure = failure?._tag === "VendorUnreachable" && failure.isInsecure === true
  const isHttps = account.baseUrl.toLowerCase().startsWith("https:")
  return {
    protocol,
    key: account.keyName,
    reachable: isReachable,
    tls: isHttps && (isReachable || isInsecure) ? !isInsecure : null,
    credential_accepted: isAcceptedAfter(failure),
    duration_ms: durationMs,
    message: failure?.message ?? "The vendor answered as one that accepts the credential"
  }
})

/** The distinct protocols that the mounts of a channel use. */
const protocolsAt = ({ document, models }: CatalogSnapshot, channelId: string): Array<string> => {
  const protocols = document.mounts
    .filter(({ channel }) => channel === channelId)
    .flatMap((mount) => {
      const model = models.get(mount.model)
      return model === undefined ? [] : [mountProtocol(model, mount)]
    })
  return [...new Set(protocols)]
}

const makeAccountCheck = Effect.gen(function* () {
  const { video, image, text, rerank, audio } = yield* ProtocolAdapter
  const adapterOf = (protocol: string) =>
    video.get(protocol) ??
    image.get(protocol) ??
    text.get(protocol) ??
    rerank?.get(protocol) ??
    audio?.get(protocol)
  const checkAccount = (protocol: string, account: CheckedAccount) => {
    const adapter = adapterOf(protocol)
    if (adapter?.check !== undefined) return runCheck(protocol, account, adapter.check)
    const reason =
      adapter === undefined
        ? `This gateway does not speak ${protocol}`
        : `${protocol} has no question that creates nothing`
    return Effect.succeed(unchecked(protocol, account.keyName, reason))
  }
  return { adapterOf, checkAccount }
})

/** Makes the test of an account that is not in the catalog, whose models are listed as well. */
export const makeAccountTest = Effect.gen(function* () {
  const { adapterOf, checkAccount } = yield* makeAccountCheck
  return Effect.fn("channels.testAccount")(function* ({ protocol, ...fields }: NewAccount) {
    const fault = addressFault(fields)
    if (fault !== null) {
      return yield* new InvalidRequest({ message: `base_url: ${fault}`, param: "base_url" })
    }
    const account = {
      channelId: "",
      keyName: null,
      baseUrl: fields.base_url,
      appId: fields.app_id,
      apiKey: fields.api_key
    }
    const check = yield* checkAccount(protocol, account)
    const listModels =
      check.credential_accepted === true ? adapterOf(protocol)?.listModels : undefined
    // Some vendors of a form that has a list of models have none: their models are typed.
    const models =
      listModels === undefined ? null : Option.getOrNull(yield* Effect.option(listModels(account)))
    return { ...check, models } satisfies AccountCheckView
  })
})

/** Makes the test of a channel, which runs one check for each protocol and key. */
export const makeChannelTest = Effect.gen(function* () {
  const catalog = yield* Catalog
  const credentials = yield* ChannelCredentials
  const { checkAccount } = yield* makeAccountCheck

  return Effect.fn("channels.test")(function* (channelId: string) {
    const snapshot = yield* catalog.snapshot
    if (!snapshot.channels.has(channelId)) return yield* noSuchChannel()
    const protocols = protocolsAt(snapshot, channelId)
    if (protocols.length === 0) {
      return [unchecked(null, null, "No model is mounted on it, so nothing tells what it speaks")]
    }
    const accounts = yield* Effect.result(credentials.accounts(channelId))
    if (Result.isFailure(accounts)) {
      return protocols.map((protocol) => unchecked(protocol, null, accounts.failure.message))
    }
    const checks = protocols.flatMap((protocol) =>
      accounts.success.all.map((account) => checkAccount(protocol, account))
    )
    return yield* Effect.all(checks, { concurrency: MAX_CONCURRENT_CHECKS })
  })
})
