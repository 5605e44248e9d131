/** Requests to a vendor that a document describes. */
import { Redacted, Result } from "effect"
import type { QueueCall, QueueDocument } from "../../domain/queue/QueueDocument.ts"
import type { FieldFault } from "../../domain/requestFields.ts"
import { VendorRefused } from "../../domain/VendorOutcome.ts"
import type { ChannelAccount } from "../../services/ProtocolAdapter.ts"
import { localRefusal } from "../wire/vendorFailures.ts"
import { rootOf, type VendorRequest } from "../wire/vendorRequest.ts"

/** What a path is filled with. */
interface PathValues {
  readonly upstreamModel: string
  /** The vendor's id of the job; null before there is one. */
  readonly upstreamId: string | null
}

/** The segments of a model's id, the first `count` of them. */
const modelPath = (upstreamModel: string, count: number): string =>
  upstreamModel.split("/").slice(0, count).map(encodeURIComponent).join("/")

/**
 * Fills a path. A request never goes to an address that stands in an answer: it would take the key
 * wherever the answer says.
 */
const fillPath = (path: string, { upstreamModel, upstreamId }: PathValues): string =>
  path.replaceAll(/\{(?:(id)|model(?::(\d))?)\}/g, (_, id?: string, count?: string) =>
    id === undefined
      ? modelPath(upstreamModel, count === undefined ? Number.POSITIVE_INFINITY : Number(count))
      : encodeURIComponent(upstreamId ?? "")
  )

const keyHeader = ({ key }: QueueDocument, { apiKey }: ChannelAccount) => ({
  [key.header]:
    key.scheme === undefined ? Redacted.value(apiKey) : `${key.scheme} ${Redacted.value(apiKey)}`
})

/** A request of a call, with a JSON body if there is one. */
export const queueRequest = (
  document: QueueDocument,
  call: QueueCall,
  account: ChannelAccount,
  values: PathValues,
  body: object | null = null
): VendorRequest => ({
  method: call.method,
  url: `${rootOf(account, ...(document.versions ?? []))}${fillPath(call.path, values)}`,
  headers: {
    ...call.headers,
    ...(body === null ? {} : { "content-type": "application/json" }),
    ...keyHeader(document, account)
  },
  body
})

/** The model of an order; the document of a mount's protocol has to have it. */
export const findModel = <M extends { readonly id: string }>(
  { id }: QueueDocument,
  models: ReadonlyArray<M>,
  upstreamModel: string
): Result.Result<M, VendorRefused> => {
  const model = models.find((one) => one.id === upstreamModel)
  if (model !== undefined) return Result.succeed(model)
  const message = `The document of ${id} has no model ${upstreamModel}`
  const refusal = localRefusal(message, { message })
  return Result.fail(
    new VendorRefused({ ...refusal, message, effectiveStatus: 403, proof: "model_unknown" })
  )
}

/** The refusal of an order that the mapping cannot carry. */
export const refuseFault = ({ path, message }: FieldFault): VendorRefused =>
  localRefusal(`${path}: ${message}`, { message: `${path}: ${message}`, param: path })
