/**
 * Loads the files of results from their vendors. Some vendors give a file only to the account that
 * made it: the key of that account is then sent, and only to the origin of its own base address.
 */
import { Effect, type Scope } from "effect"
import { originOf } from "../domain/catalog/origin.ts"
import {
  headerOf,
  type OutgoingAnswer,
  OutgoingFault,
  type OutgoingRequest,
  OutgoingWeb
} from "../egress/OutgoingWeb.ts"
import { ChannelCredentials, type KeyedAccount } from "../services/channels/ChannelCredentials.ts"
import { ProtocolAdapter } from "../services/ProtocolAdapter.ts"

/** The job that made a file, with the account that ordered it; null before a vendor has a job. */
export interface FileSource {
  readonly channelId: string
  readonly protocol: string
  readonly accountVersion: number | null
  readonly keyName: string | null
}

/** Tells whether only the key of its account opens the file of a job. */
export const makeNeedsKey = Effect.map(
  ProtocolAdapter,
  ({ video }) =>
    ({ protocol }: Pick<FileSource, "protocol">): boolean =>
      video.get(protocol)?.fileHeaders !== undefined
)

const MAX_REDIRECTS = 3
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

const noKey = new OutgoingFault({
  message: "the channel has no usable key for it",
  isRefused: false
})

const tooManyRedirects = new OutgoingFault({
  message: "the vendor redirects too often",
  isRefused: false
})

export const makeOpenVendorFile = Effect.gen(function* () {
  const web = yield* OutgoingWeb
  const { video } = yield* ProtocolAdapter
  const credentials = yield* ChannelCredentials

  /**
   * The account that made a file. Its version may be forgotten after the end of its tasks; the
   * channel's present account then takes its place.
   */
  const accountOf = ({ channelId, accountVersion, keyName }: FileSource) =>
    credentials.taskAccounts(channelId, accountVersion ?? 0).pipe(
      Effect.catch(() => Effect.map(credentials.accounts(channelId), ({ all }) => all)),
      Effect.map((accounts) => accounts.find((one) => one.keyName === keyName) ?? accounts[0]),
      Effect.mapError(() => noKey)
    )

  const openWithKey = Effect.fnUntraced(function* (
    request: OutgoingRequest,
    { baseUrl }: KeyedAccount,
    keyHeaders: OutgoingRequest["headers"]
  ) {
    const ownOrigin = originOf(baseUrl)
    let { url } = request
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const isOwn = ownOrigin !== null && originOf(url) === ownOrigin
      const headers = isOwn ? { ...request.headers, ...keyHeaders } : request.headers
      const answer = yield* web.open({ ...request, url, headers })
      const next = URL.parse(headerOf(answer, "location"), url)
      if (!redirectStatuses.has(answer.status) || next === null) return answer
      url = next.href
    }
    return yield* tooManyRedirects
  })

  /** Succeeds when the head of the answer has arrived, as `open` of `OutgoingWeb`. */
  return Effect.fnUntraced(function* (
    source: FileSource,
    request: OutgoingRequest
  ): Effect.fn.Return<OutgoingAnswer, OutgoingFault, Scope.Scope> {
    const fileHeaders = video.get(source.protocol)?.fileHeaders
    if (fileHeaders === undefined) return yield* web.open(request)
    const account = yield* accountOf(source)
    return yield* openWithKey(request, account, fileHeaders(account))
  })
})
