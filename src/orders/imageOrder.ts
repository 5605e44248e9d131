/** Images as an order: made while the client waits, and charged by the requested number. */

import { Array as Arr, Effect, Exit } from "effect"
import type { KeyTurns } from "../channels/keyTurns.ts"
import type { UpstreamError } from "../domain/Errors.ts"
import { withImageAddresses } from "../domain/files/fileReferences.ts"
import type { ImageBody } from "../domain/image/ImageRequest.ts"
import { metadataOf } from "../domain/money/metadata.ts"
import { type Quote, unitOf } from "../domain/money/Quote.ts"
import { RawAnswer, writtenAnswer } from "../domain/RawAnswer.ts"
import type { VendorRefused } from "../domain/VendorOutcome.ts"
import { withoutMedia } from "../hiding/promptsFromRecords.ts"
import { textDigest } from "../hiding/textDigest.ts"
import { Settings } from "../runtime/Settings.ts"
import type { Caller } from "../services/Access.ts"
import { carriesImages } from "../services/IdempotencyKeys.ts"
import type { ImageResult } from "../services/ProtocolAdapter.ts"
import type { OrderResolution } from "./OrderResolution.ts"
import type { GiveFiles } from "./orderFiles.ts"
import type { PaidOrder } from "./orderValue.ts"
import { makeKeepImages, type TaskImages } from "./taskImages.ts"

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

/** What it answers is done once the files that the order refers to are given. */
export const makeImageOrder = Effect.fnUntraced(function* (
  resolve: OrderResolution,
  keyTurns: KeyTurns,
  giveFiles: GiveFiles
) {
  const { hasArchive, imageDeadlineSeconds } = yield* Settings
  const keepImages = yield* makeKeepImages

  const ordered = Effect.fnUntraced(function* <Made>(
    caller: Caller,
    { metadata = null, ...body }: ImageBody,
    taken: (made: ImageResult, id: string) => Effect.Effect<Made, VendorRefused>
  ) {
    const { mounts, model, quote, files } = yield* resolve.images(caller, body)
    const order = (sent: ImageBody) =>
      ({
        kind: "image",
        caller,
        model,
        mounts: Arr.map(mounts, ({ adapter, accounts, ...mount }) => ({
          ...mount,
          call: (id: string) =>
            keyTurns
              .forOrder(accounts, (account) =>
                adapter.generate(account, { upstreamModel: mount.job.upstreamModel, body: sent })
              )
              .pipe(Effect.flatMap((made) => taken(made, id)))
        })),
        quote,
        metadata: metadataOf({ metadata }),
        promptDigest: textDigest(body.prompt),
        deadlineSeconds: imageDeadlineSeconds
      }) as const
    const charge = {
      _tag: "Charge",
      chargeNano: quote.holdNano,
      costBy: ({ holdNano }: Quote) => holdNano,
      usage: {
        input: 0n,
        output: BigInt(quote.images),
        ...unitOf(quote),
        basis: "requested_images"
      }
    } as const
    const given = Effect.map(giveFiles(caller, files), (addresses) =>
      order(withImageAddresses(body, addresses))
    )
    return { given, charge, model, quote }
  })

  return {
    /** Answered with its images. */
    whole: (caller: Caller, body: ImageBody) =>
      Effect.map(
        ordered(caller, body, (made) => Effect.succeed(imagesOf(made))),
        ({ given, charge }) =>
          Effect.map(
            given,
            (order) =>
              ({
                ...order,
                finish: (made) =>
                  Effect.succeed({
                    ...charge,
                    keep: () => keptOf(made),
                    answer: Exit.succeed(made.answer)
                  })
              }) satisfies PaidOrder<Images, RawAnswer>
          )
      ),
    /** Answered when its hold is taken; `begun` hears of the task then. */
    task: Effect.fnUntraced(function* (
      caller: Caller,
      { callback_url: callbackUrl = null, ...body }: ImageBody,
      begun: (id: string) => Effect.Effect<unknown>
    ) {
      const { given, charge, model, quote } = yield* ordered(caller, body, (made, id) =>
        keepImages(made, caller.organizationId, id)
      )
      return Effect.map(
        given,
        (order) =>
          ({
            ...order,
            task: {
              created: {
                listedProtocol: model.protocol,
                summary: { images: quote.images, size: body.size ?? null },
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
              Effect.succeed({
                ...charge,
                task: { from: "submitting", state: "succeeded", ...made },
                answer: Exit.succeed(made)
              }),
            around: (steps, id) => Effect.andThen(begun(id), steps)
          }) satisfies PaidOrder<TaskImages, TaskImages>
      )
    })
  }
})
