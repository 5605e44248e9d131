/** Asking a channel's vendor something that creates nothing. */
import { Effect, Result } from "effect"
import type { Model, Mount } from "../../domain/catalog/CatalogDocument.ts"
import { mountProtocol } from "../../domain/catalog/CatalogRules.ts"
import { aboutAccount, type VendorFailure } from "../../domain/VendorOutcome.ts"
import { monotonicMillis } from "../../runtime/monotonic.ts"
import { Catalog, type CatalogSnapshot, noSuchChannel } from "../../services/Catalog.ts"
import {
  ChannelCredentials,
  type KeyedAccount
} from "../../services/channels/ChannelCredentials.ts"
import { ProtocolAdapter, type VendorCheck } from "../../services/ProtocolAdapter.ts"

export interface ChannelCheck {
  /** Null where no model is mounted. */
  readonly protocol: string | null
  /** Null where none is stored. */
  readonly keyName: string | null
  readonly isReachable: boolean | null
  readonly isSecure: boolean | null
  readonly isAccepted: boolean | null
  readonly tookMillis: number | null
  readonly message: string
}

const untold = (
  protocol: string | null,
  keyName: string | null,
  message: string
): ChannelCheck => ({
  ...{ protocol, keyName, message },
  isReachable: null,
  isSecure: null,
  isAccepted: null,
  tookMillis: null
})

/** What an answer tells of the credential, and in words. */
const verdictOf = (failure: VendorFailure | null): Pick<ChannelCheck, "isAccepted" | "message"> => {
  if (failure === null)
    return { isAccepted: true, message: "The vendor answered as one that accepts the credential" }
  const isRefused = failure._tag === "VendorRefused" && aboutAccount.has(failure.effectiveStatus)
  return { isAccepted: isRefused ? false : null, message: failure.message }
}

const asked = Effect.fnUntraced(function* (
  protocol: string,
  account: KeyedAccount,
  check: VendorCheck
) {
  const startedAt = yield* monotonicMillis
  const answer = yield* Effect.result(check(account))
  const tookMillis = Math.round((yield* monotonicMillis) - startedAt)
  const failure = Result.isFailure(answer) ? answer.failure : null
  const isReachable =
    failure === null ||
    failure._tag === "VendorRefused" ||
    (failure._tag === "VendorLost" && failure.reason === "broken_answer")
  const isInsecure = failure?._tag === "VendorUnreachable" && failure.isInsecure === true
  const isTls = account.baseUrl.toLowerCase().startsWith("https:")
  return {
    protocol,
    keyName: account.keyName,
    isReachable,
    isSecure: isTls && (isReachable || isInsecure) ? !isInsecure : null,
    tookMillis,
    ...verdictOf(failure)
  }
})

/** Each protocol that the mounts of a channel speak, with the modality's table it is in. */
const protocolsAt = (
  { document, models }: CatalogSnapshot,
  channelId: string
): ReadonlyArray<string> => {
  const spoken = (mount: Mount, model: Model | undefined) =>
    model === undefined ? [] : [mountProtocol(model, mount)]
  return [
    ...new Set(
      document.mounts
        .filter(({ channel }) => channel === channelId)
        .flatMap((mount) => spoken(mount, models.get(mount.model)))
    )
  ]
}

/** By protocol and key. Fails for a channel that is not in the catalog. */
export const makeChannelTest = Effect.gen(function* () {
  const catalog = yield* Catalog
  const credentials = yield* ChannelCredentials
  const { video, image, text } = yield* ProtocolAdapter

  return Effect.fn("channels.test")(function* (channelId: string) {
    const snapshot = yield* catalog.snapshot
    if (!snapshot.channels.has(channelId)) return yield* noSuchChannel()
    const protocols = protocolsAt(snapshot, channelId)
    if (protocols.length === 0) {
      return [untold(null, null, "No model is mounted on it, so nothing tells what it speaks")]
    }
    const accounts = yield* Effect.result(credentials.accounts(channelId))
    if (Result.isFailure(accounts)) {
      return protocols.map((protocol) => untold(protocol, null, accounts.failure.message))
    }
    const { all } = accounts.success
    const questions = protocols.flatMap((protocol) => {
      const adapter = video.get(protocol) ?? image.get(protocol) ?? text.get(protocol)
      return all.map((account) =>
        adapter?.check === undefined
          ? Effect.succeed(
              untold(
                protocol,
                account.keyName,
                adapter === undefined
                  ? `This gateway does not speak ${protocol}`
                  : `${protocol} has no question that creates nothing`
              )
            )
          : asked(protocol, account, adapter.check)
      )
    })
    return yield* Effect.all(questions, { concurrency: 4 })
  })
})
