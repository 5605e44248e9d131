/** What a gateway reaches outside of its process, over the simulated network. */
import { type Duration, Effect, Layer, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import {
  type OpenAnswer,
  VendorWire,
  WireFault,
  type WireHead,
  WireLate
} from "../../src/adapters/wire/VendorWire.ts"
import { encodeRequest, type VendorRequest } from "../../src/adapters/wire/vendorRequest.ts"
import { layerSecureRandom } from "../../src/crypto.ts"
import { RawAnswer } from "../../src/domain/RawAnswer.ts"
import { OutgoingFault, OutgoingWeb } from "../../src/egress/OutgoingWeb.ts"
import { ConnectionBroken, type Delivery, type Network } from "./network.ts"
import type { Actor } from "./world.ts"

const headOf = ({ status, headers }: Delivery): WireHead => ({
  status,
  headers: Object.fromEntries(headers)
})

const makeSimulatedWire = Effect.fnUntraced(function* (network: Network, gateway: Actor) {
  const random = yield* SecureRandom.SecureRandom
  const deliver = Effect.fnUntraced(function* (
    vendorRequest: VendorRequest,
    timeout: Duration.Duration
  ) {
    const { url, body, ...rest } = yield* encodeRequest(random, vendorRequest)
    const init = { ...rest, body: Array.isArray(body) ? Buffer.concat(body) : body }
    return yield* Effect.tryPromise({
      try: (signal) => network.send(gateway, new Request(url, { ...init, signal })),
      catch: (cause) =>
        new WireFault({
          cause,
          partial: null,
          isSent: !(cause instanceof ConnectionBroken) || cause.isSent
        })
    }).pipe(
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () => Effect.fail(new WireLate({ partial: null }))
      })
    )
  })
  return VendorWire.of({
    exchange: (request, { timeout, maxBytes }) =>
      Effect.map(deliver(request, timeout), (delivery) => ({
        ...headOf(delivery),
        raw: new RawAnswer([delivery.body.subarray(0, maxBytes)]),
        isComplete: delivery.body.length <= maxBytes
      })),
    open: (request, timeout) =>
      Effect.map(deliver(request, timeout), (delivery): OpenAnswer => {
        let unread: Uint8Array | null = delivery.body
        return {
          ...headOf(delivery),
          read: () =>
            Effect.sync(() => {
              const bytes = unread
              unread = null
              return bytes
            })
        }
      })
  })
})

/** The connections of a gateway to vendors. */
export const layerSimulatedWire = (network: Network, gateway: Actor) =>
  Layer.effect(VendorWire, makeSimulatedWire(network, gateway)).pipe(
    Layer.provide(layerSecureRandom)
  )

/** The connections of a gateway to receivers of webhooks and to files. */
export const layerSimulatedWeb = (network: Network, gateway: Actor) =>
  Layer.succeed(OutgoingWeb, {
    rules: { allowPrivate: true },
    open: ({ method, url, headers, body = null }) =>
      Effect.tryPromise({
        try: (signal) => network.send(gateway, new Request(url, { method, headers, body, signal })),
        catch: () => new OutgoingFault({ message: "the connection was cut", isRefused: false })
      }).pipe(
        Effect.map((delivery) => ({ ...headOf(delivery), bytes: Stream.succeed(delivery.body) }))
      )
  })
