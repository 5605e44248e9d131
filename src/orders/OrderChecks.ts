/** What every ordering endpoint decides first: which model, on which mount, with which account. */
import { Effect, Result } from "effect"
import type { Model, Mount } from "../domain/catalog/CatalogDocument.ts"
import { mountProtocol } from "../domain/catalog/CatalogRules.ts"
import { isReserved, type Modality, modalities } from "../domain/catalog/Modality.ts"
import {
  type BillingUnavailable,
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
import { nearestName } from "../domain/nearest.ts"
import { unsent } from "../runtime/databaseErrors.ts"
import type { Caller } from "../services/Access.ts"
import { Catalog, type CatalogSnapshot, ChannelCredentials } from "../services/Catalog.ts"
import type { VendorJob } from "../services/Ledger.ts"
import { Protocols } from "../services/ProtocolAdapter.ts"

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
  | InvalidRequest
  | RateLimited
  | Overloaded
  | UpstreamError

interface OrderedModel {
  readonly model: Model
  /** The protocol it is called by: the mount's where there is one. */
  readonly protocol: string
  readonly mount: Mount | null
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
): Result.Result<
  OrderedModel,
  ModelNotFound | PermissionDenied | ModalityNotReady | ModalityMismatch
> => {
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
  const mount = snapshot.mounts.get(modelId)?.[0] ?? null
  const protocol = mount === null ? model.protocol : mountProtocol(model, mount)
  return Result.succeed({ model, protocol, mount })
}

export const makeModelCheck = Effect.map(
  Catalog,
  (catalog) => (caller: Caller, modelId: string, fitting: ReadonlyArray<Modality>) =>
    Effect.flatMap(unsent(catalog.snapshot), (snapshot) =>
      Effect.fromResult(checkModel(snapshot, caller, modelId, fitting))
    )
)

/**
 * The account behind the model's first enabled mount, and what is called there. Fails also when the
 * account lacks what the protocol needs.
 */
export const makeAccountCheck = Effect.gen(function* () {
  const credentials = yield* ChannelCredentials
  const protocols = yield* Protocols
  const unavailable = (message: string) =>
    Effect.fail(new ChannelUnavailable({ message, param: "model" }))

  return ({ model, protocol, mount }: OrderedModel) => {
    const name = JSON.stringify(model.id)
    if (mount === null) {
      return unavailable(`${name} is not mounted on an enabled channel at the moment`)
    }
    return Effect.flatMap(unsent(credentials.account(mount.channel)), (account) => {
      if (account.appId === null && protocols.video.get(protocol)?.needsAppId === true) {
        return unavailable(`The channel of ${name} has no application id, which ${protocol} needs`)
      }
      const upstreamModel = mount.upstream_model ?? model.id
      const job: VendorJob = { channelId: mount.channel, protocol, upstreamModel }
      return Effect.succeed({ account, job })
    })
  }
})
