/**
 * A gateway that answers an image order at the step `LADDER_STEP`. It is composed of the layers of
 * the product; the layer behind the step is replaced by a double that answers at once.
 */
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Config, Console, Effect, Layer, Result } from "effect"
import { HttpServer, HttpServerResponse } from "effect/http"
import { loadConfig } from "../../../src/config.ts"
import { layerSecureRandom } from "../../../src/crypto.ts"
import { encodeAnswer } from "../../../src/domain/RawAnswer.ts"
import { layerRoutes, layerUseCases } from "../../../src/gateway.ts"
import { Authorization, RequestRules } from "../../../src/http/api/middlewares.ts"
import { layerMiddlewares } from "../../../src/http/layer.ts"
import { makeOrderResolution } from "../../../src/orders/OrderResolution.ts"
import { Orders } from "../../../src/orders/Orders.ts"
import { layerGateway } from "../../../src/program.ts"
import { runUntilStopped } from "../../../src/run.ts"
import { loadSecrets, type Secrets } from "../../../src/secrets.ts"
import { Ledger } from "../../../src/services/Ledger.ts"
import { ProtocolAdapter } from "../../../src/services/ProtocolAdapter.ts"
import { type Step, stepNames } from "./steps.ts"

const images = {
  created: 1_780_000_000,
  data: [{ url: "http://127.0.0.1:9/images/lighthouse-at-dusk.png" }]
}
const response = HttpServerResponse.jsonUnsafe(images)

/** Answers before the key is looked at. */
const layerAuthorization = Layer.succeed(
  Authorization,
  Authorization.of({ bearer: () => Effect.succeed(response) })
)

/** Answers before the body is read. Operators' bodies are read, as they set up the measurement. */
const layerRequestRules = Layer.effect(
  RequestRules,
  Effect.map(RequestRules, (rules) =>
    RequestRules.of((handler, options) =>
      options.endpoint.identifier === "generate"
        ? Effect.succeed(response)
        : rules(handler, options)
    )
  )
).pipe(Layer.provide(layerMiddlewares))

/** Answers the decoded body; with the price, once model, mounts and price are found. */
const layerOrdersWith = (hasPrice: boolean) =>
  Layer.effect(
    Orders,
    Effect.gen(function* () {
      const orders = yield* Orders
      const resolve = yield* makeOrderResolution
      const result = { answer: Result.succeed(encodeAnswer(images)), isReplay: false }
      return Orders.of({
        ...orders,
        images: (caller, body) =>
          hasPrice
            ? Effect.as(resolve.images(caller, { body, edit: null }), result)
            : Effect.succeed(result)
      })
    })
  ).pipe(Layer.provide(layerUseCases))

/** A ledger that allows every hold and writes nothing. */
const layerLedger = Layer.effect(
  Ledger,
  Effect.map(Ledger, (ledger) =>
    Ledger.of({
      ...ledger,
      hold: () => Effect.void,
      capture: ({ chargeNano }) =>
        Effect.succeed({
          won: true,
          state: "captured",
          capturedNano: chargeNano,
          overageNano: 0n
        })
    })
  )
)

/** Adapters whose images are there at once. */
const layerAdapters = Layer.effect(
  ProtocolAdapter,
  Effect.map(ProtocolAdapter, (adapters) =>
    ProtocolAdapter.of({
      ...adapters,
      image: new Map(
        [...adapters.image].map(([protocol, adapter]) => [
          protocol,
          { ...adapter, generate: () => Effect.succeed(images) }
        ])
      )
    })
  )
)

const withOrders = (hasPrice: boolean) => ({
  useCases: Layer.merge(layerUseCases, layerOrdersWith(hasPrice))
})

const partsOf = (secrets: Secrets) =>
  ({
    edge: { routes: layerRoutes(secrets, Layer.merge(layerMiddlewares, layerAuthorization)) },
    access: { routes: layerRoutes(secrets, Layer.merge(layerMiddlewares, layerRequestRules)) },
    body: withOrders(false),
    price: withOrders(true),
    order: { useCases: layerUseCases.pipe(Layer.provide([layerLedger, layerAdapters])) },
    vendor: { useCases: layerUseCases.pipe(Layer.provide(layerLedger)) },
    ledger: {}
  }) satisfies Record<Step, object>

const program = Effect.gen(function* () {
  const step = yield* Config.Literals(stepNames, "LADDER_STEP")
  const config = yield* loadConfig
  const secrets = yield* loadSecrets(config)
  return yield* Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    yield* Console.log(`listens on ${HttpServer.formatAddress(address)}`)
    return yield* Effect.never
  }).pipe(Effect.provide(layerGateway(config, secrets, undefined, partsOf(secrets)[step])))
}).pipe(Effect.provide([NodeServices.layer, layerSecureRandom]))

runUntilStopped(program)
