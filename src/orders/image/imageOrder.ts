/** Images as an order: made while the client waits, and charged by the requested number. */

import { Array as Arr, Cause, Effect, Exit, Option } from "effect"
import type { KeyTurns } from "../../channels/keyTurns.ts"
import type { UpstreamError } from "../../domain/Errors.ts"
import { withImageAddresses } from "../../domain/files/fileReferences.ts"
import type { ImageQuote } from "../../domain/image/ImageQuote.ts"
import type { ImageRequest } from "../../domain/image/ImageRequest.ts"
import { metadataOf } from "../../domain/money/metadata.ts"
import { type Quote, unitOf } from "../../domain/money/Quote.ts"
import { RawAnswer, writtenAnswer } from "../../domain/RawAnswer.ts"
import {
  duplicateJob,
  givenUp,
  UNREAD_BASIS,
  upstreamErrorOf,
  type VendorFailure,
  VendorLost
} from "../../domain/VendorOutcome.ts"
import { withoutMedia } from "../../redaction/promptsFromRecords.ts"
import { textDigest } from "../../redaction/textDigest.ts"
import { Settings } from "../../runtime/Settings.ts"
import type { Caller } from "../../services/Access.ts"
import type { KeyedAccount } from "../../services/channels/ChannelCredentials.ts"
import { carriesImages } from "../../services/IdempotencyKeys.ts"
import type {
  ImageAdapter,
  ImageOrder,
  ImagePiece,
  ImageResult
} from "../../services/ProtocolAdapter.ts"
import { TaskRepo } from "../../services/TaskRepo.ts"
import type { UsableMount } from "../OrderChecks.ts"
import type { OrderResolution } from "../OrderResolution.ts"
import type { GiveFiles } from "../orderFiles.ts"
import type { MountedCall, PaidOrder } from "../orderValue.ts"
import { makeStreamedAnswer } from "../streamedAnswer.ts"
import { unreadCharge } from "../unreadAnswer.ts"
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

interface ImageMount extends ImageOrder, Pick<UsableMount, "accounts"> {
  readonly adapter: ImageAdapter
}

/** The number in the request counts. */
const chargeOf = (quote: ImageQuote) =>
  ({
    _tag: "Charge",
    chargeNano: quote.holdNano,
    costBy: ({ holdNano }: Quote) => holdNano,
    usage: {
      input: 0n,
      output: BigInt(quote.images),
      ...unitOf(quote),
      basis: "requested_images"
    }
  }) as const
type ImageCharge = ReturnType<typeof chargeOf>

/** What came could not be read, and is charged all the same. */
const asUnread = (charge: ImageCharge) => ({
  ...charge,
  usage: { ...charge.usage, basis: UNREAD_BASIS }
})

/** Why a stream broke off after something had left; null where it came to its end. */
type Broken = Cause.Cause<VendorFailure> | null

const noImages = new VendorLost({
  reason: "broken_answer",
  message: "The vendor's stream ended without an image",
  status: 200,
  retryAfterSeconds: null
})

const endOf = (isCharged: boolean, broken: Broken): Exit.Exit<void, UpstreamError> => {
  if (!isCharged) return Exit.fail(givenUp())
  return broken === null ? Exit.void : Exit.failCause(Cause.map(broken, upstreamErrorOf))
}

/** What it answers is done once the files that the order refers to are given. */
export const makeImageOrder = Effect.fnUntraced(function* (
  resolve: OrderResolution,
  keyTurns: KeyTurns,
  giveFiles: GiveFiles
) {
  const { currency, hasArchive, imageDeadlineSeconds } = yield* Settings
  const keepImages = yield* makeKeepImages
  const tasks = yield* TaskRepo

  const ordered = Effect.fnUntraced(function* <Made>(
    caller: Caller,
    request: ImageRequest,
    callAt: (mount: ImageMount, charge: ImageCharge) => MountedCall<Made>["call"]
  ) {
    const { metadata = null, ...body } = request.body
    const { mounts, model, quote, files } = yield* resolve.images(caller, { ...request, body })
    const charge = chargeOf(quote)
    const given = Effect.map(
      giveFiles(caller, files),
      (addresses) =>
        ({
          kind: "image",
          caller,
          model,
          mounts: Arr.map(mounts, ({ adapter, accounts, request, ...mount }) => {
            const { upstreamModel } = mount.job
            const sent = withImageAddresses(request, addresses)
            return { ...mount, call: callAt({ adapter, accounts, upstreamModel, ...sent }, charge) }
          }),
          quote,
          metadata: metadataOf({ metadata }),
          promptDigest: textDigest(body.prompt),
          deadlineSeconds: imageDeadlineSeconds
        }) as const
    )
    return { given, charge, model, quote }
  })

  /** A job that the vendor tells is the order's, before it is waited for and charged. */
  const claimJob =
    (orderId: string, { channelId, origin }: KeyedAccount) =>
    (upstreamId: string) =>
      Effect.mapError(tasks.claimJob(orderId, { channelId, origin, upstreamId }), () =>
        duplicateJob(upstreamId)
      )

  const made = ({ adapter, accounts, ...order }: ImageMount, orderId: string) =>
    keyTurns.forOrder(accounts, (account) =>
      adapter.generate(account, order, claimJob(orderId, account))
    )

  return {
    /** Answered with its images. */
    whole: (caller: Caller, request: ImageRequest) =>
      Effect.map(
        ordered(caller, request, (mount) => (id) => Effect.map(made(mount, id), imagesOf)),
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
                  }),
                finishUnread: (failure, orderId) =>
                  unreadCharge(asUnread(charge), failure, { orderId, currency }).finish
              }) satisfies PaidOrder<Images, RawAnswer>
          )
      ),
    /** Answered when its hold is taken; `begun` hears of the task then. */
    task: Effect.fnUntraced(function* (
      caller: Caller,
      { body: { callback_url: callbackUrl = null, ...body }, edit }: ImageRequest,
      begun: (id: string) => Effect.Effect<unknown>
    ) {
      const { given, charge, model, quote } = yield* ordered(
        caller,
        { body, edit },
        (mount) => (id) =>
          Effect.flatMap(made(mount, id), (result) => keepImages(result, caller.organizationId, id))
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
            finishUnread: (failure, orderId) => {
              const { error, finish } = unreadCharge(asUnread(charge), failure, {
                orderId,
                currency
              })
              const { keep: _, ...unread } = finish
              return {
                ...unread,
                task: {
                  from: "submitting",
                  state: "failed",
                  errorCode: error._tag,
                  errorMessage: error.message
                }
              }
            },
            around: (steps, id) => Effect.andThen(begun(id), steps)
          }) satisfies PaidOrder<TaskImages, TaskImages>
      )
    }),
    /** Answered while they are made, and charged before the first image leaves, finished or not. */
    streamed: Effect.fnUntraced(function* (caller: Caller, request: ImageRequest) {
      const { answer, begun, offer, around } = yield* makeStreamedAnswer(imageDeadlineSeconds)
      let state: "open" | "charged" | "given up" = "open"
      const isOpen = () => state === "open"

      const { given, charge } = yield* ordered(
        caller,
        request,
        ({ adapter, accounts, ...order }, charge): MountedCall<Broken>["call"] =>
          (_, chargeNow) => {
            const take = (piece: ImagePiece) =>
              Effect.gen(function* () {
                if (piece.hasImage && isOpen()) {
                  const isCharged = yield* chargeNow({
                    ...charge,
                    keep: () => ({ stored: { _tag: "Images", result: null }, remembered: null }),
                    answer: Exit.void
                  })
                  state = isCharged ? "charged" : "given up"
                }
                // What comes before is no part of an answer that may yet be an error.
                if (state === "charged") yield* offer(piece.event)
                return state !== "given up"
              })
            return keyTurns
              .forOrder(
                accounts,
                (account) => adapter.stream?.(account, order, take) ?? Effect.fail(noImages),
                isOpen
              )
              .pipe(
                Effect.andThen(
                  Effect.suspend(() => (isOpen() ? Effect.fail(noImages) : Effect.void))
                ),
                Effect.as(null),
                // What fails after the charge breaks off what is paid for, also a defect of ours.
                Effect.catchCause((cause) =>
                  isOpen() || Cause.hasInterrupts(cause)
                    ? Effect.failCause(cause)
                    : Effect.succeed(cause)
                )
              )
          }
      )
      return {
        answer,
        begun,
        order: Effect.map(
          given,
          (order) =>
            ({
              ...order,
              hasBegun: () => !isOpen(),
              brokenOffBy: (broken) =>
                broken === null ? null : Option.getOrNull(Cause.findErrorOption(broken)),
              finish: (broken) =>
                Effect.succeed({ _tag: "Charged", answer: endOf(state === "charged", broken) }),
              finishUnread: (failure, orderId) =>
                unreadCharge(asUnread(charge), failure, { orderId, currency }).finish,
              around
            }) satisfies PaidOrder<Broken, void>
        )
      }
    })
  }
})
