/** Vendors without sockets: what goes out is handed to a function, and its answer comes in. */
import { type Duration, Effect } from "effect"
import { VendorWire, type WireFault, WireLate } from "../../src/adapters/wire/VendorWire.ts"
import type { VendorRequest } from "../../src/adapters/wire/vendorRequest.ts"
import { RawAnswer } from "../../src/domain/RawAnswer.ts"

export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export const jsonBody = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value))

const within = <A, E>(timeout: Duration.Duration, answer: Effect.Effect<A, E>) =>
  Effect.timeoutOrElse(answer, {
    duration: timeout,
    orElse: () => Effect.fail(new WireLate({ partial: null }))
  })

export const wireTo = (answer: (request: VendorRequest) => Effect.Effect<Reply, WireFault>) => {
  const answered = (request: VendorRequest) =>
    Effect.map(
      Effect.suspend(() => answer(request)),
      ({ status = 200, headers = {}, body }) => ({
        status,
        headers,
        body
      })
    )
  return VendorWire.of({
    exchange: (request, { timeout, maxBytes }) =>
      within(timeout, answered(request)).pipe(
        Effect.map(({ body, ...head }) => ({
          ...head,
          raw: new RawAnswer([body]),
          isComplete: body.byteLength <= maxBytes
        }))
      ),
    open: (request, timeout) =>
      Effect.map(within(timeout, answered(request)), ({ body, ...head }) => {
        const left: Array<Uint8Array> = [body]
        return { ...head, read: () => Effect.sync(() => left.shift() ?? null) }
      })
  })
}
