/** What every ordering endpoint decides first: which model, on which mount, with which account. */
import { Context, Effect, Layer, type Scope } from "effect"
import type { Model, Mount } from "../domain/catalog/CatalogDocument.ts"
import { mountProtocol } from "../domain/catalog/CatalogRules.ts"
import { isReserved, type Modality, modalities } from "../domain/catalog/Modality.ts"
import {
  type BillingUnavailable,
  ChannelUnavailable,
  type InsufficientBalance,
  type MemberCapExceeded,
  ModalityMismatch,
  ModalityNotReady,
  ModelNotFound,
  type Overloaded,
  PermissionDenied,
  RateLimited,
  type UpstreamError
} from "../domain/Errors.ts"
import { nearestName } from "../domain/nearest.ts"
import { atScopeEnd } from "../runtime/atScopeEnd.ts"
import { Settings } from "../runtime/Settings.ts"
import { makeShares } from "../runtime/Shares.ts"
import type { Caller } from "../services/Access.ts"
import { Catalog, type CatalogSnapshot, ChannelCredentials } from "../services/Catalog.ts"
import { unsent } from "../services/databaseErrors.ts"
import { type ChannelAccount, Protocols } from "../services/ProtocolAdapter.ts"

/** What may come of any paid order, whatever its modality. */
export type OrderRefusal =
  | ModelNotFound
  | PermissionDenied
  | ModalityNotReady
  | ModalityMismatch
  | ChannelUnavailable
  | BillingUnavailable
  | MemberCapExceeded
  | InsufficientBalance
  | RateLimited
  | Overloaded
  | UpstreamError

export interface OrderedModel {
  readonly model: Model
  /** The protocol it is called by: the mount's where there is one. */
  readonly protocol: string
  readonly mount: Mount | null
}

export interface MountedModel {
  readonly channelId: string
  readonly upstreamModel: string
  readonly account: ChannelAccount
}

export class Ordering extends Context.Service<
  Ordering,
  {
    /**
     * Checks, in this order: the model exists, the key may call it, it is open, it is of the modality
     * or of one of them. Where it does not exist, the error names the model of these modalities that
     * is spelled most like it and that the key may call.
     */
    model(
      caller: Caller,
      modelId: string,
      modality: Modality | ReadonlyArray<Modality>
    ): Effect.Effect<
      OrderedModel,
      ModelNotFound | PermissionDenied | ModalityNotReady | ModalityMismatch | Overloaded
    >
    /**
     * The account behind the model's first enabled mount. Fails also when the account lacks what
     * the protocol needs.
     */
    account(ordered: OrderedModel): Effect.Effect<MountedModel, ChannelUnavailable | Overloaded>
    /**
     * A place among the organisation's running orders, and among the paid calls this gateway has open
     * at the channel, of which one organisation may have half; until the scope closes. Taken before
     * the hold, and given back when nothing of the order runs any more, whether or not its client
     * has stayed.
     */
    place(order: {
      readonly organizationId: string
      readonly channelId: string
    }): Effect.Effect<void, RateLimited, Scope.Scope>
  }
>()("gateway/services/Ordering") {}

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

/** Of a channel's places: so that one organisation leaves some to the others. */
const SHARE_OF_CHANNEL = 0.5

const busy = (what: string, param: "model" | null) =>
  new RateLimited({
    message: `${what} at a time; send this one again when another is answered`,
    param,
    retryAfterSeconds: 1
  })

export const layerOrdering = Layer.effect(
  Ordering,
  Effect.gen(function* () {
    const catalog = yield* Catalog
    const credentials = yield* ChannelCredentials
    const protocols = yield* Protocols
    const { channelInFlight, organizationInFlight } = yield* Settings
    const running = makeShares({ each: organizationInFlight })
    const ownCalls = makeShares({ each: Math.ceil(channelInFlight * SHARE_OF_CHANNEL) })
    const calls = makeShares({ each: channelInFlight })

    const model: Ordering["Service"]["model"] = Effect.fnUntraced(
      function* (caller, modelId, modality) {
        const snapshot = yield* unsent(catalog.snapshot)
        const found = snapshot.models.get(modelId)
        const name = JSON.stringify(modelId.slice(0, MAX_NAME).toWellFormed())
        const fitting = [modality].flat()
        if (found === undefined) {
          const near = nearestName(modelId, modelsFor(caller, snapshot, fitting))
          const question = near === null ? ";" : `, did you mean ${JSON.stringify(near)}?`
          return yield* new ModelNotFound({
            message: `No model is called ${name}${question} GET /v1/models lists those this key may order`,
            param: "model"
          })
        }
        if (caller.models !== null && !caller.models.has(modelId)) {
          return yield* new PermissionDenied({
            message: `This key may not call ${name}; GET /v1/models lists the models it may`,
            param: "model"
          })
        }
        if (isReserved(found.modality)) {
          return yield* new ModalityNotReady({
            message: `${name} is a model of modality ${found.modality}, which is not open yet; GET /v1/models tells which are`,
            param: "model"
          })
        }
        const { endpoint } = modalities[found.modality]
        if (!fitting.includes(found.modality)) {
          return yield* new ModalityMismatch({
            message:
              `${name} is a model of modality ${found.modality}, which POST ${endpoint} takes; ` +
              `this endpoint takes models of modality ${fitting.join(" or ")}`,
            param: "model"
          })
        }
        const mount = snapshot.mounts.get(modelId)?.[0] ?? null
        const protocol = mount === null ? found.protocol : mountProtocol(found, mount)
        return { model: found, protocol, mount }
      }
    )

    const account: Ordering["Service"]["account"] = Effect.fnUntraced(function* ({
      model,
      protocol,
      mount
    }) {
      if (mount === null) {
        return yield* new ChannelUnavailable({
          message: `${JSON.stringify(model.id)} is not mounted on an enabled channel at the moment`,
          param: "model"
        })
      }
      const account = yield* unsent(credentials.account(mount.channel))
      const needsAppId = protocols.video.get(protocol)?.needsAppId === true
      if (needsAppId && account.appId === null) {
        return yield* new ChannelUnavailable({
          message: `The channel of ${JSON.stringify(model.id)} has no application id, which ${protocol} needs`,
          param: "model"
        })
      }
      return {
        channelId: mount.channel,
        upstreamModel: mount.upstream_model ?? model.id,
        account
      }
    })

    /** What refuses the order, and whose places it has when nothing does. */
    const takePlaces = (organizationId: string, channelId: string): RateLimited | null => {
      const own = `${organizationId} ${channelId}`
      if (!running.tryTake(organizationId)) {
        const bound = `${organizationInFlight} orders running at this gateway`
        return busy(`This organisation may have ${bound}`, null)
      }
      if (!ownCalls.tryTake(own)) {
        running.giveBack(organizationId)
        const bound = "as many orders as it may have at the channel of this model"
        return busy(`This organisation has ${bound}`, "model")
      }
      if (!calls.tryTake(channelId)) {
        running.giveBack(organizationId)
        ownCalls.giveBack(own)
        const bound = "busy with as many orders as it may have"
        return busy(`The channel of this model is ${bound}`, "model")
      }
      return null
    }

    const place: Ordering["Service"]["place"] = ({ organizationId, channelId }) =>
      Effect.suspend(() => {
        const refused = takePlaces(organizationId, channelId)
        if (refused !== null) return Effect.fail(refused)
        return atScopeEnd(() => {
          running.giveBack(organizationId)
          ownCalls.giveBack(`${organizationId} ${channelId}`)
          calls.giveBack(channelId)
        })
      }).pipe(Effect.uninterruptible)

    return Ordering.of({ model, account, place })
  })
)
