/** What every ordering endpoint decides first: which model, on which mounts, with which accounts. */
import { Array as Arr, Effect, Equal, Result } from "effect"
import type { Model, Mount } from "../domain/catalog/CatalogDocument.ts"
import { mountProtocol } from "../domain/catalog/CatalogRules.ts"
import { isReserved, type Modality, modalities } from "../domain/catalog/Modality.ts"
import type { Prices } from "../domain/catalog/Prices.ts"
import {
  type BillingUnavailable,
  type BudgetExceeded,
  ChannelUnavailable,
  type InsufficientBalance,
  type InvalidRequest,
  type MemberCapExceeded,
  ModalityMismatch,
  ModalityNotReady,
  ModelNotFound,
  type Overloaded,
  PermissionDenied,
  type RateLimited,
  type UpstreamError
} from "../domain/Errors.ts"
import type { Quote } from "../domain/money/Quote.ts"
import { nearestName } from "../domain/nearest.ts"
import { failAsOverloaded } from "../runtime/databaseErrors.ts"
import type { Caller } from "../services/Access.ts"
import { Catalog, type CatalogSnapshot } from "../services/Catalog.ts"
import {
  ChannelCredentials,
  type KeyedAccount,
  noCredentials
} from "../services/channels/ChannelCredentials.ts"
import type { VendorJob } from "../services/Ledger.ts"
import { Protocols } from "../services/ProtocolAdapter.ts"

/** Why a key may not order a model. */
export type ModelRefusal = ModelNotFound | PermissionDenied | ModalityNotReady | ModalityMismatch

/** What may come of any paid order, whatever its modality. */
export type OrderRefusal =
  | ModelRefusal
  | ChannelUnavailable
  | BillingUnavailable
  | MemberCapExceeded
  | BudgetExceeded
  | InsufficientBalance
  | InvalidRequest
  | RateLimited
  | Overloaded
  | UpstreamError

export interface OrderedModel {
  readonly model: Model
  /** Those in use, by priority. */
  readonly mounts: ReadonlyArray<Mount>
}

/** A mount that can make an order: who is called, as whom, for what, and before which others. */
export interface UsableMount extends Pick<Mount, "priority" | "weight"> {
  /** One for each of the channel's keys. */
  readonly accounts: Arr.NonEmptyReadonlyArray<KeyedAccount>
  readonly job: VendorJob
  /** What the vendor bills us for the order, by its mount's price table; null where that tells nothing. */
  readonly cost: Quote | null
}

/** Of a name in an error. */
const MAX_NAME = 200

/** The models of these modalities that the key may order. */
function* modelsFor(
  caller: Caller,
  { models }: CatalogSnapshot,
  modalities: ReadonlyArray<Modality>
): Generator<string> {
  for (const { id, modality } of models.values()) {
    if (modalities.includes(modality) && (caller.models === null || caller.models.has(id))) yield id
  }
}

/**
 * Checks, in this order: the model exists, the key may call it, it is open, it is of one of the
 * modalities. Where it does not exist, the error names the model of these modalities that is spelled
 * most like it and that the key may call.
 */
const checkModel = (
  snapshot: CatalogSnapshot,
  caller: Caller,
  modelId: string,
  fitting: ReadonlyArray<Modality>
): Result.Result<OrderedModel, ModelRefusal> => {
  const model = snapshot.models.get(modelId)
  const name = () => JSON.stringify(modelId.slice(0, MAX_NAME).toWellFormed())
  if (model === undefined) {
    const near = nearestName(modelId, modelsFor(caller, snapshot, fitting))
    const question = near === null ? ";" : `, did you mean ${JSON.stringify(near)}?`
    return Result.fail(
      new ModelNotFound({
        message: `No model is called ${name()}${question} GET /v1/models lists those this key may order`,
        param: "model"
      })
    )
  }
  if (caller.models !== null && !caller.models.has(modelId)) {
    return Result.fail(
      new PermissionDenied({
        message: `This key may not call ${name()}; GET /v1/models lists the models it may`,
        param: "model"
      })
    )
  }
  if (isReserved(model.modality)) {
    return Result.fail(
      new ModalityNotReady({
        message: `${name()} is a model of modality ${model.modality}, which is not open yet; GET /v1/models tells which are`,
        param: "model"
      })
    )
  }
  if (!fitting.includes(model.modality)) {
    const { endpoint } = modalities[model.modality]
    return Result.fail(
      new ModalityMismatch({
        message:
          `${name()} is a model of modality ${model.modality}, which POST ${endpoint} takes; ` +
          `this endpoint takes models of modality ${fitting.join(" or ")}`,
        param: "model"
      })
    )
  }
  return Result.succeed({ model, mounts: snapshot.mounts.get(modelId) ?? [] })
}

export const makeModelCheck = Effect.map(
  Catalog,
  (catalog) => (caller: Caller, modelId: string, fitting: ReadonlyArray<Modality>) =>
    Effect.flatMap(failAsOverloaded(catalog.snapshot), (snapshot) =>
      Effect.fromResult(checkModel(snapshot, caller, modelId, fitting))
    )
)

/** What one protocol makes of an order. */
interface Offers<Spoken, Fitting extends { readonly quote: Quote }, Stranger, Misfit> {
  /** Fails where the gateway does not speak the protocol for this model. */
  readonly speak: (protocol: string, upstreamModel: string) => Result.Result<Spoken, Stranger>
  /** What is sent and held for; fails where the protocol does not offer what is ordered. */
  readonly fit: (spoken: Spoken, upstreamModel: string) => Result.Result<Fitting, Misfit>
  /** What the order comes to by another price table. */
  readonly priceBy: (fitting: Fitting, prices: Prices) => Result.Result<Quote, unknown>
  /** What is answered where none of those that were tried offers it. */
  readonly noneFits: (
    tried: ReadonlyArray<Spoken>,
    misfits: Arr.NonEmptyReadonlyArray<Misfit>
  ) => Misfit
}

/** A catalog has no such price table: it was refused when it was loaded. */
export const otherKind = Result.fail("a price of another kind")

/**
 * Finds the mounts that can make an order, by priority. One whose protocol does not offer it, or whose
 * channel lacks what the protocol needs, is passed over. All hold for the same: where mounts would
 * cost differently, those that cost what the first one does.
 */
export const makeMountCheck = Effect.gen(function* () {
  const credentials = yield* ChannelCredentials
  const protocols = yield* Protocols
  const unavailable = (message: string) => new ChannelUnavailable({ message, param: "model" })

  const accountsOf = (model: Model, channelId: string, protocol: string) =>
    Effect.flatMap(failAsOverloaded(credentials.accounts(channelId)), ({ forOrders }) => {
      if (!Arr.isReadonlyArrayNonEmpty(forOrders)) return Effect.fail(noCredentials())
      return forOrders[0].appId === null && protocols.video.get(protocol)?.needsAppId === true
        ? Effect.fail(
            unavailable(
              `The channel of ${JSON.stringify(model.id)} has no application id, which ${protocol} needs`
            )
          )
        : Effect.succeed(forOrders)
    })

  return Effect.fnUntraced(function* <
    Spoken,
    Fitting extends { readonly quote: Quote },
    Stranger,
    Misfit
  >({ model, mounts }: OrderedModel, offers: Offers<Spoken, Fitting, Stranger, Misfit>) {
    const usable: Array<UsableMount & Fitting> = []
    const tried: Array<Spoken> = []
    const misfits: Array<Misfit> = []
    /** Of mounts that are passed over: those that offer the order first. */
    const lacking: Array<ChannelUnavailable> = []
    const wouldServe: Array<ChannelUnavailable> = []
    const strangers: Array<Stranger> = []
    if (mounts.length === 0) yield* Effect.fromResult(offers.speak(model.protocol, model.id))
    for (const mount of mounts) {
      const { channel: channelId, priority, weight } = mount
      const protocol = mountProtocol(model, mount)
      const upstreamModel = mount.upstream_model ?? model.id
      const spoken = offers.speak(protocol, upstreamModel)
      if (Result.isFailure(spoken)) {
        strangers.push(spoken.failure)
        continue
      }
      tried.push(spoken.success)
      const fitting = offers.fit(spoken.success, upstreamModel)
      const accounts = yield* Effect.result(accountsOf(model, channelId, protocol))
      if (Result.isFailure(accounts)) {
        if (accounts.failure._tag === "overloaded") return yield* accounts.failure
        const passedOver = Result.isSuccess(fitting) ? wouldServe : lacking
        passedOver.push(accounts.failure)
      } else if (Result.isFailure(fitting)) {
        misfits.push(fitting.failure)
      } else {
        const job: VendorJob = { channelId, protocol, upstreamModel }
        const cost =
          mount.cost === undefined
            ? null
            : Result.getOrElse(offers.priceBy(fitting.success, mount.cost), () => null)
        usable.push({ ...fitting.success, priority, weight, accounts: accounts.success, job, cost })
      }
    }
    if (Arr.isArrayNonEmpty(usable)) {
      const [first, ...others] = usable
      return Arr.prepend(
        others.filter(({ quote }) => Equal.equals(quote, first.quote)),
        first
      )
    }
    const misfit = Arr.isArrayNonEmpty(misfits) ? offers.noneFits(tried, misfits) : undefined
    return yield* Effect.fail(
      wouldServe[0] ??
        misfit ??
        lacking[0] ??
        strangers[0] ??
        unavailable(
          `${JSON.stringify(model.id)} is not mounted on an enabled channel at the moment`
        )
    )
  })
})
