/**
 * The checks with which every ordering endpoint begins: the model, its mounts, and the accounts of
 * their channels.
 */
import { Array as Arr, Effect, Result } from "effect"
import type { Model, Mount } from "../domain/catalog/CatalogDocument.ts"
import { mountProtocol, statusOf } from "../domain/catalog/CatalogRules.ts"
import { type Modality, modalities } from "../domain/catalog/Modality.ts"
import { isAllowed, quotedName, unknownModel } from "../domain/catalog/modelNames.ts"
import type { Prices } from "../domain/catalog/Prices.ts"
import type { ProtocolTables } from "../domain/catalog/ProtocolTables.ts"
import {
  type BillingUnavailable,
  type BudgetExceeded,
  ChannelUnavailable,
  type InsufficientBalance,
  type InvalidRequest,
  type MemberCapExceeded,
  ModalityMismatch,
  ModalityNotReady,
  type ModelNotFound,
  type Overloaded,
  PermissionDenied,
  type RateLimited,
  type UpstreamError
} from "../domain/Errors.ts"
import { formatNano } from "../domain/money/Money.ts"
import { isSameQuote, type Quote } from "../domain/money/Quote.ts"
import { failAsOverloaded } from "../runtime/databaseErrors.ts"
import { Settings } from "../runtime/Settings.ts"
import type { Caller } from "../services/Access.ts"
import { Catalog, type CatalogSnapshot, markOfList, offerModel } from "../services/Catalog.ts"
import {
  ChannelCredentials,
  type KeyedAccount,
  noCredentials
} from "../services/channels/ChannelCredentials.ts"
import type { VendorJob } from "../services/Ledger.ts"
import { Protocols } from "../services/ProtocolAdapter.ts"

/** The reasons why a key may not order a model. */
export type ModelRefusal = ModelNotFound | PermissionDenied | ModalityNotReady | ModalityMismatch

/** Every error that paid orders of all modalities share. */
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
  /** The model with the prices for the caller's organisation. */
  readonly model: Model
  /** The price list that priced the model; null where the catalog's prices stand. */
  readonly priceList: string | null
  /** Whether the organisation's price list marks orders by default; null where it does not say. */
  readonly listMark: boolean | null
  /**
   * Whether the charge may never be above the hold: for keys with a budget of their own, and for
   * requests with a limit for their order.
   */
  readonly isCapped: boolean
  /** The enabled mounts, by priority. */
  readonly mounts: ReadonlyArray<Mount>
  /** The maximum number of tasks of a channel at a time; null where it has none. */
  readonly maxTasksOf: (channelId: string) => number | null
}

/** A mount that can make an order, with its accounts, the job, and its priority and weight. */
export interface UsableMount extends Pick<Mount, "priority" | "weight"> {
  /** One account for each of the channel's keys. */
  readonly accounts: Arr.NonEmptyReadonlyArray<KeyedAccount>
  readonly job: VendorJob
  /**
   * The cost that the vendor bills for the order, by the price table of the mount; null where this
   * table has no price for the order.
   */
  readonly cost: Quote | null
  /** The maximum number of tasks of the channel at a time; null where it has none. */
  readonly maxTasks: number | null
}

/** The models of these modalities that the key may order. */
function* modelsFor(
  caller: Caller,
  { models }: CatalogSnapshot,
  modalities: ReadonlyArray<Modality>
): Generator<Model> {
  for (const model of models.values()) {
    if (modalities.includes(model.modality) && isAllowed(caller.models, model)) yield model
  }
}

/**
 * Finds the model by its id or an alias, and checks, in this order: the model exists, the key may
 * call the model, the model's modality is open for orders, and the endpoint takes this modality.
 * When the model does not exist, the error suggests a name among those of the models of these
 * modalities that the key may call.
 */
const checkModel = (
  snapshot: CatalogSnapshot,
  caller: Caller,
  name: string,
  expected: ReadonlyArray<Modality>,
  protocols: ProtocolTables
): Result.Result<Pick<OrderedModel, "model" | "mounts">, ModelRefusal> => {
  const model = snapshot.modelsByName.get(name)
  if (model === undefined) {
    return Result.fail(unknownModel(name, modelsFor(caller, snapshot, expected)))
  }
  if (!isAllowed(caller.models, model)) {
    return Result.fail(
      new PermissionDenied({
        message: `This key may not call ${quotedName(name)}; GET /v1/models lists the models it may`,
        param: "model"
      })
    )
  }
  if (statusOf(protocols, snapshot.document, model) !== "open") {
    return Result.fail(
      new ModalityNotReady({
        message: `${quotedName(name)} is a model of modality ${model.modality}, which is not open yet; GET /v1/models tells which are`,
        param: "model"
      })
    )
  }
  if (!expected.includes(model.modality)) {
    const { endpoint } = modalities[model.modality]
    return Result.fail(
      new ModalityMismatch({
        message:
          `${quotedName(name)} is a model of modality ${model.modality}, which POST ${endpoint} takes; ` +
          `this endpoint takes models of modality ${expected.join(" or ")}`,
        param: "model"
      })
    )
  }
  return Result.succeed({ model, mounts: snapshot.mounts.get(model.id) ?? [] })
}

/**
 * Whether orders of the caller ask for the vendor's mark when they do not set one: by the
 * organisation, by its price list, or by the gateway.
 */
export const makeMarkDefault = Effect.map(
  Settings,
  (settings) =>
    ({ watermark }: Caller, listMark: boolean | null): boolean =>
      watermark ?? listMark ?? settings.watermark
)

/**
 * The mounts that mark the product, or all of them where none does. An order that is marked by
 * default prefers a marked product to the priority of its mounts, and no mount that comes next
 * makes one without the mark.
 */
export const preferMarked = <M extends { readonly isMarked: boolean }>(
  mounts: Arr.NonEmptyReadonlyArray<M>
): Arr.NonEmptyReadonlyArray<M> => {
  const marked = mounts.filter(({ isMarked }) => isMarked)
  return Arr.isReadonlyArrayNonEmpty(marked) ? marked : mounts
}

/**
 * Checks the model, and prices it for the caller. All later steps of an order see the prices of the
 * model that this returns. Whether a price list is in force yet is decided here, by the clock.
 */
export const makeModelCheck = Effect.map(
  Effect.all([Catalog, Protocols]),
  ([catalog, protocols]) =>
    (caller: Caller, name: string, expected: ReadonlyArray<Modality>) =>
      Effect.flatMap(failAsOverloaded(catalog.snapshot), (snapshot) =>
        Effect.clockWith((clock) =>
          Effect.fromResult(
            Result.map(
              checkModel(snapshot, caller, name, expected, protocols),
              ({ model, mounts }) => ({
                ...offerModel(snapshot, caller.priceList, model, clock.currentTimeMillisUnsafe()),
                mounts,
                maxTasksOf: (channelId: string) =>
                  snapshot.channels.get(channelId)?.max_tasks ?? null,
                listMark: markOfList(snapshot, caller.priceList),
                isCapped: caller.hasBudget === true || caller.orderLimitNano !== undefined
              })
            )
          )
        )
      )
)

/** The rules by which an order is checked against one protocol of its modality. */
interface OfferRules<Protocol, Offer extends { readonly quote: Quote }, ProtocolError, OfferError> {
  /**
   * Finds the protocol by its id. Fails where the gateway does not support the protocol for this
   * model.
   */
  readonly resolveProtocol: (
    protocol: string,
    upstreamModel: string,
    mount: Mount | null
  ) => Result.Result<Protocol, ProtocolError>
  /**
   * Checks the order against the protocol. The result is the offer: the request for the vendor and
   * its quote. Fails where the protocol does not offer the order.
   */
  readonly checkOffer: (
    protocol: Protocol,
    upstreamModel: string
  ) => Result.Result<Offer, OfferError>
  /** Quotes the order by another price table, such as the costs of a mount. */
  readonly quoteBy: (offer: Offer, prices: Prices) => Result.Result<Quote, unknown>
  /** The error for an order that none of the protocols offers. */
  readonly notOffered: (
    protocols: ReadonlyArray<Protocol>,
    errors: Arr.NonEmptyReadonlyArray<OfferError>
  ) => OfferError
}

/** A mount that can make the order, or the reason why the mount cannot. */
type MountCheck<Protocol, Offer, ProtocolError, OfferError> =
  | { readonly _tag: "UnknownProtocol"; readonly error: ProtocolError }
  | {
      readonly _tag: "NoAccount"
      readonly protocol: Protocol
      readonly hasOffer: boolean
      readonly error: ChannelUnavailable
    }
  | { readonly _tag: "NotOffered"; readonly protocol: Protocol; readonly error: OfferError }
  | { readonly _tag: "Usable"; readonly protocol: Protocol; readonly usable: UsableMount & Offer }

/**
 * The result for a price table whose kind does not fit the order's modality. No loaded catalog has
 * such a table: the catalog is refused when it is loaded.
 */
export const otherPriceKind = Result.fail("a price of another kind")

/**
 * Finds the mounts that can make an order, by priority. A mount is skipped when its protocol does
 * not offer the order, or its channel lacks what the protocol needs. All mounts of an order have
 * the same quote: when quotes differ, only mounts with the quote of the first usable mount are
 * returned.
 */
export const makeMountCheck = Effect.gen(function* () {
  const credentials = yield* ChannelCredentials
  const protocols = yield* Protocols
  const unavailable = (message: string) => new ChannelUnavailable({ message, param: "model" })

  /** The accounts that may make orders; fails where they lack what the protocol needs. */
  const accountsFor = (model: Model, protocol: string, forOrders: ReadonlyArray<KeyedAccount>) => {
    if (!Arr.isReadonlyArrayNonEmpty(forOrders)) return Result.fail(noCredentials())
    const needsAppId = protocols.video.get(protocol)?.needsAppId === true
    return needsAppId && forOrders[0].appId === null
      ? Result.fail(
          unavailable(
            `The channel of ${JSON.stringify(model.id)} has no application id, which ${protocol} needs`
          )
        )
      : Result.succeed(forOrders)
  }

  const checkMount = Effect.fnUntraced(function* <
    Protocol,
    Offer extends { readonly quote: Quote },
    ProtocolError,
    OfferError
  >(
    { model, maxTasksOf }: Pick<OrderedModel, "model" | "maxTasksOf">,
    mount: Mount,
    rules: OfferRules<Protocol, Offer, ProtocolError, OfferError>
  ): Effect.fn.Return<MountCheck<Protocol, Offer, ProtocolError, OfferError>, Overloaded> {
    const { channel: channelId, priority, weight } = mount
    const protocolId = mountProtocol(model, mount)
    const upstreamModel = mount.upstream_model ?? model.id
    const resolved = rules.resolveProtocol(protocolId, upstreamModel, mount)
    if (Result.isFailure(resolved)) return { _tag: "UnknownProtocol", error: resolved.failure }
    const protocol = resolved.success
    const checked = rules.checkOffer(protocol, upstreamModel)
    const stored = yield* failAsOverloaded(Effect.result(credentials.accounts(channelId)))
    const accounts = Result.flatMap(stored, ({ forOrders }) =>
      accountsFor(model, protocolId, forOrders)
    )
    if (Result.isFailure(accounts)) {
      const hasOffer = Result.isSuccess(checked)
      return { _tag: "NoAccount", protocol, hasOffer, error: accounts.failure }
    }
    if (Result.isFailure(checked)) return { _tag: "NotOffered", protocol, error: checked.failure }
    const offer = checked.success
    const job: VendorJob = {
      channelId,
      protocol: protocolId,
      upstreamModel,
      ...(mount.bill_unit_price === undefined
        ? {}
        : { billUnitPrice: formatNano(mount.bill_unit_price) })
    }
    const cost =
      mount.cost === undefined
        ? null
        : Result.getOrElse(rules.quoteBy(offer, mount.cost), () => null)
    const maxTasks = maxTasksOf(channelId)
    const usable = { ...offer, priority, weight, accounts: accounts.success, job, cost, maxTasks }
    return { _tag: "Usable", protocol, usable }
  })

  return Effect.fnUntraced(function* <
    Protocol,
    Offer extends { readonly quote: Quote },
    ProtocolError,
    OfferError
  >(
    { model, mounts, maxTasksOf }: Pick<OrderedModel, "model" | "mounts" | "maxTasksOf">,
    rules: OfferRules<Protocol, Offer, ProtocolError, OfferError>
  ) {
    if (mounts.length === 0)
      yield* Effect.fromResult(rules.resolveProtocol(model.protocol, model.id, null))
    const checks: Array<MountCheck<Protocol, Offer, ProtocolError, OfferError>> = []
    for (const mount of mounts) checks.push(yield* checkMount({ model, maxTasksOf }, mount, rules))
    const usable = checks.flatMap((check) => (check._tag === "Usable" ? [check.usable] : []))
    if (Arr.isArrayNonEmpty(usable)) {
      const [first, ...others] = usable
      return Arr.prepend(
        others.filter(({ quote }) => isSameQuote(first.quote, quote)),
        first
      )
    }
    const tried = checks.flatMap((check) =>
      check._tag === "UnknownProtocol" ? [] : [check.protocol]
    )
    const offerErrors = checks.flatMap((check) =>
      check._tag === "NotOffered" ? [check.error] : []
    )
    const withoutAccount = checks.filter((check) => check._tag === "NoAccount")
    // A channel that offers the order but cannot be called gives a more helpful error than one that
    // does not offer the order.
    return yield* Effect.fail(
      withoutAccount.find(({ hasOffer }) => hasOffer)?.error ??
        (Arr.isArrayNonEmpty(offerErrors) ? rules.notOffered(tried, offerErrors) : undefined) ??
        withoutAccount[0]?.error ??
        checks.find((check) => check._tag === "UnknownProtocol")?.error ??
        unavailable(
          `${JSON.stringify(model.id)} is not mounted on an enabled channel at the moment`
        )
    )
  })
})
