/** Images as an order: made while the client waits, and charged by the requested number. */
import { Array as Arr, Effect, Exit } from "effect"
import type { KeyTurns } from "../channels/keyTurns.ts"
import type { ImageBody } from "../domain/image/ImageRequest.ts"
import { unitOf } from "../domain/money/Quote.ts"
import { RawAnswer, writtenAnswer } from "../domain/RawAnswer.ts"
import { Settings } from "../runtime/Settings.ts"
import type { Caller } from "../services/Access.ts"
import { carriesImages } from "../services/IdempotencyKeys.ts"
import type { ImageResult } from "../services/ProtocolAdapter.ts"
import type { OrderResolution } from "./OrderResolution.ts"
import type { PaidOrder } from "./orderValue.ts"

interface Images {
  readonly result: ImageResult
  /** Written before the charge, since nothing may fail between the charge and the client. */
  readonly answer: RawAnswer
}

const imagesOf = (result: ImageResult): Images => ({
  result,
  answer: result instanceof RawAnswer ? result : writtenAnswer(result)
})

/** Addresses are kept for repeats with the charge; images themselves only in memory. */
const keptOf = ({ result, answer }: Images) =>
  result instanceof RawAnswer || carriesImages(result)
    ? ({ stored: { _tag: "Images", result: null }, remembered: answer } as const)
    : ({ stored: { _tag: "Images", result }, remembered: null } as const)

export const makeImageOrder = (resolve: OrderResolution, keyTurns: KeyTurns) =>
  Effect.map(Settings, ({ imageDeadlineSeconds }) =>
    Effect.fnUntraced(function* (caller: Caller, body: ImageBody) {
      const { mounts, model, quote } = yield* resolve.images(caller, body)
      return {
        kind: "image",
        caller,
        mounts: Arr.map(mounts, ({ adapter, accounts, ...mount }) => ({
          ...mount,
          call: () =>
            keyTurns.forOrder(accounts, (account) =>
              Effect.map(
                adapter.generate(account, { upstreamModel: mount.job.upstreamModel, body }),
                imagesOf
              )
            )
        })),
        quote,
        deadlineSeconds: imageDeadlineSeconds,
        finish: (made) =>
          Effect.succeed({
            _tag: "Charge",
            chargeNano: quote.holdNano,
            costBy: ({ holdNano }) => holdNano,
            usage: {
              model: model.id,
              modality: "image",
              input: 0n,
              output: BigInt(quote.images),
              ...unitOf(quote),
              basis: "requested_images"
            },
            keep: () => keptOf(made),
            answer: Exit.succeed(made.answer)
          })
      } satisfies PaidOrder<Images, RawAnswer>
    })
  )
