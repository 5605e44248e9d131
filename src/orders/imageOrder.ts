/** Images as an order: made while the client waits, and charged by the requested number. */
import { Array as Arr, Effect, Exit, Schema } from "effect"
import type { KeyTurns } from "../channels/keyTurns.ts"
import type { UpstreamError } from "../domain/Errors.ts"
import type { ImageBody } from "../domain/image/ImageRequest.ts"
import { unitOf } from "../domain/money/Quote.ts"
import { RawAnswer, writtenAnswer } from "../domain/RawAnswer.ts"
import { VendorRefused } from "../domain/VendorOutcome.ts"
import { withoutMedia } from "../hiding/promptsFromRecords.ts"
import { Settings } from "../runtime/Settings.ts"
import type { Caller } from "../services/Access.ts"
import { carriesImages } from "../services/IdempotencyKeys.ts"
import type { ImageResult } from "../services/ProtocolAdapter.ts"
import type { TaskResult } from "../services/TaskRepo.ts"
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

const isAddressed = Schema.is(Schema.Struct({ url: Schema.String }))

/** What a task keeps: addresses, and no word of the vendor's, which may repeat the prompt. */
const resultOf = ({ result }: Images): TaskResult => {
  if (result instanceof RawAnswer) return {}
  const { created, data, usage } = result
  const entries: ReadonlyArray<unknown> = Array.isArray(data) ? data : []
  return {
    created,
    data: entries.flatMap((entry) => (isAddressed(entry) ? [{ url: entry.url }] : [])),
    ...(usage === undefined ? {} : { usage })
  }
}

/** Addresses are kept for repeats with the charge; images themselves only in memory. */
const keptOf = ({ result, answer }: Images) =>
  result instanceof RawAnswer || carriesImages(result)
    ? ({ stored: { _tag: "Images", result: null }, remembered: answer } as const)
    : ({ stored: { _tag: "Images", result }, remembered: null } as const)

/** A task keeps addresses alone: images that come otherwise cannot be delivered, and are not charged. */
const undeliverable = new VendorRefused({
  effectiveStatus: 502,
  status: 200,
  body: null,
  message: "The vendor answered with images in base64, which are not kept for a task",
  retryAfterSeconds: null
})

const keepable = (images: Images): Effect.Effect<Images, VendorRefused> =>
  images.result instanceof RawAnswer || carriesImages(images.result)
    ? Effect.fail(undeliverable)
    : Effect.succeed(images)

export const makeImageOrder = (resolve: OrderResolution, keyTurns: KeyTurns) =>
  Effect.map(Settings, ({ hasArchive, imageDeadlineSeconds }) => {
    const ordered = Effect.fnUntraced(function* (
      caller: Caller,
      body: ImageBody,
      taken: (images: Images) => Effect.Effect<Images, VendorRefused>
    ) {
      const { mounts, model, quote } = yield* resolve.images(caller, body)
      const order = {
        kind: "image",
        caller,
        mounts: Arr.map(mounts, ({ adapter, accounts, ...mount }) => ({
          ...mount,
          call: () =>
            keyTurns
              .forOrder(accounts, (account) =>
                Effect.map(
                  adapter.generate(account, { upstreamModel: mount.job.upstreamModel, body }),
                  imagesOf
                )
              )
              .pipe(Effect.flatMap(taken))
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
      return { order, model }
    })

    return {
      /** Answered with its images. */
      whole: (caller: Caller, body: ImageBody) =>
        Effect.map(ordered(caller, body, Effect.succeed), ({ order }) => order),
      /** Answered when its hold is taken; `begun` hears of the task then. */
      task: Effect.fnUntraced(function* (
        caller: Caller,
        { callback_url: callbackUrl = null, ...body }: ImageBody,
        begun: (id: string) => Effect.Effect<unknown>
      ) {
        const { order, model } = yield* ordered(caller, body, keepable)
        return {
          ...order,
          task: {
            created: {
              keyId: caller.keyId,
              model: model.id,
              listedProtocol: model.protocol,
              summary: { images: order.quote.images, size: body.size ?? null },
              submitSeconds: imageDeadlineSeconds,
              callbackUrl,
              isArchived: hasArchive
            },
            rejected: (error: UpstreamError) => ({
              from: "submitting",
              state: "rejected",
              errorCode: error._tag,
              errorMessage: withoutMedia(error).message
            })
          },
          finish: (made) =>
            Effect.map(order.finish(made), (finish) => ({
              ...finish,
              task: { from: "submitting", state: "succeeded", result: resultOf(made) }
            })),
          around: (steps, id) => Effect.andThen(begun(id), steps)
        } satisfies PaidOrder<Images, RawAnswer>
      })
    }
  })
