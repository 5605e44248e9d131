/** Orders of images, which are charged by their requested number or by the vendor's tokens. */
import { Array as Arr, Cause, Effect, Exit } from "effect"
import type { KeyTurns } from "../../channels/keyTurns.ts"
import { InvalidRequest, type UpstreamError } from "../../domain/Errors.ts"
import { withImageAddresses } from "../../domain/files/fileReferences.ts"
import type { ImageQuote } from "../../domain/image/ImageQuote.ts"
import type { ImageRequest } from "../../domain/image/ImageRequest.ts"
import {
  addDelivered,
  chargeImageTokens,
  type DeliveredImages,
  type ImageTokenQuote
} from "../../domain/image/ImageTokenQuote.ts"
import { metadataOf } from "../../domain/money/metadata.ts"
import { type Quote, unitOf } from "../../domain/money/Quote.ts"
import { encodeAnswer, RawAnswer } from "../../domain/RawAnswer.ts"
import { cancelledByVendor } from "../../domain/taskAnswers.ts"
import {
  abandonedRequestError,
  cancelledOrder,
  type Doubt,
  duplicateJob,
  implausibleUsage,
  UNREADABLE_BASIS,
  upstreamErrorOf,
  type VendorFailure,
  VendorLost
} from "../../domain/VendorOutcome.ts"
import { withoutMedia, withoutRequestTexts } from "../../redaction/promptsFromRecords.ts"
import { textDigest } from "../../redaction/textDigest.ts"
import { Settings } from "../../runtime/Settings.ts"
import type { Caller } from "../../services/Access.ts"
import type { KeyedAccount } from "../../services/channels/ChannelCredentials.ts"
import { carriesImages } from "../../services/IdempotencyKeys.ts"
import type { UsageEntry } from "../../services/Ledger.ts"
import type {
  ImageAdapter,
  ImageOrder,
  ImagePiece,
  ImageResult
} from "../../services/ProtocolAdapter.ts"
import { TaskRepo } from "../../services/TaskRepo.ts"
import type { UsableMount } from "../OrderChecks.ts"
import type { OrderResolution } from "../OrderResolution.ts"
import {
  type ChargeNow,
  type Finish,
  type MountedCall,
  type OrderRun,
  type PaidOrder,
  type RepeatAnswer,
  unstreamedHooks
} from "../orderValue.ts"
import { type BreakOff, breakOffOf, makeStreamedAnswer } from "../streamedAnswer.ts"
import { unreadCharge } from "../unreadAnswer.ts"
import { makeArchiveImages, type TaskImages } from "./taskImages.ts"

interface Images {
  readonly result: ImageResult
  readonly delivered: DeliveredImages | null
  /**
   * The encoded answer. It is encoded before the charge, so that nothing can fail between the
   * charge and the answer to the client.
   */
  readonly answer: RawAnswer
}

const imagesOf = ({ result, delivered }: Generated): Images => ({
  result,
  delivered,
  answer: result instanceof RawAnswer ? result : encodeAnswer(result)
})

/**
 * The answer to repeated requests. URLs of images are stored in the database; the bytes of images
 * are kept in memory alone.
 */
const repeatAnswerOf = ({ result, answer }: Images): RepeatAnswer =>
  result instanceof RawAnswer || carriesImages(result)
    ? { stored: { _tag: "Images", result: null }, remembered: answer }
    : { stored: { _tag: "Images", result }, remembered: null }

/** The answer of a call; `delivered` is null where the adapter does not tell what was delivered. */
interface Generated {
  readonly result: ImageResult
  readonly delivered: DeliveredImages | null
}

/** A mount of an order, with the request to its vendor. */
interface ImageMount extends Pick<UsableMount, "accounts"> {
  readonly adapter: ImageAdapter
  readonly vendorOrder: ImageOrder
}

type CallMount<Product> = (
  mount: ImageMount,
  run: OrderRun,
  chargeNow: ChargeNow
) => Effect.Effect<Product, VendorFailure>

/** The vendor's bill by a quote of its prices: by its tokens, or what was expected. */
const costBy = (delivered: DeliveredImages | null) => (cost: Quote) =>
  cost.kind === "image_tokens" ? chargeImageTokens(cost, delivered).chargeNano : cost.holdNano

interface ImageCharge {
  readonly _tag: "Charge"
  readonly chargeNano: bigint
  readonly task: null
  readonly costBy: (cost: Quote) => bigint
  readonly usage: UsageEntry
  readonly orphan: Doubt | null
}

/** The charge for images: by the number in the request, or by the tokens that were reported. */
const chargeOf = (
  quote: ImageQuote | ImageTokenQuote,
  delivered: DeliveredImages | null
): ImageCharge => {
  const common = { _tag: "Charge", task: null, costBy: costBy(delivered) } as const
  if (quote.kind === "image") {
    return {
      ...common,
      chargeNano: quote.holdNano,
      usage: {
        input: 0n,
        output: BigInt(quote.images),
        ...unitOf(quote),
        basis: "requested_images"
      },
      orphan: null
    }
  }
  const charge = chargeImageTokens(quote, delivered)
  return {
    ...common,
    chargeNano: charge.chargeNano,
    usage: {
      input: charge.inputTokens,
      output: charge.outputTokens,
      ...unitOf(quote),
      inputUnitPriceNano: quote.nanoPerTextToken,
      parts: charge.parts,
      basis: charge.basis
    },
    orphan: charge.implausible === null ? null : implausibleUsage(charge.implausible, null)
  }
}

/** The charge for an answer that could not be read. */
const asUnread = (charge: ImageCharge) => ({
  ...charge,
  usage: { ...charge.usage, basis: UNREADABLE_BASIS }
})

/** The stored images of a task, and what was delivered of them. */
interface CountedImages extends Pick<Generated, "delivered"> {
  readonly images: TaskImages
}

const bytesNeedArchive = new InvalidRequest({
  message:
    "prefer: this gateway has no archive to store the bytes in which this model answers images; order without Prefer: respond-async",
  param: "prefer"
})

const noImages = new VendorLost({
  reason: "broken_answer",
  message: "The vendor's stream ended without an image",
  status: 200,
  retryAfterSeconds: null
})

const endOf = (isCharged: boolean, breakOff: BreakOff): Exit.Exit<void, UpstreamError> => {
  if (!isCharged) return Exit.fail(abandonedRequestError())
  return breakOff === null ? Exit.void : Exit.failCause(Cause.map(breakOff, upstreamErrorOf))
}

export const makeImageOrder = Effect.fnUntraced(function* (
  resolve: OrderResolution,
  keyTurns: KeyTurns
) {
  const { currency, hasArchive, imageDeadlineSeconds } = yield* Settings
  const archiveImages = yield* makeArchiveImages
  const tasks = yield* TaskRepo

  /**
   * Checks and prices an order. The result has its terms, its charge, and the calls of the mounts
   * that can make it.
   */
  const checkOrder = (caller: Caller, request: ImageRequest) => {
    const { metadata = null, ...body } = request.body
    const resolved = resolve.images(caller, { ...request, body })
    return Effect.map(resolved, ({ mounts, model, priceList, quote, files }) => {
      const terms = {
        kind: "image",
        caller,
        model,
        priceList,
        quote,
        metadata: metadataOf({ metadata }),
        promptDigest: textDigest(body.prompt),
        deadlineSeconds: imageDeadlineSeconds,
        files,
        needsBytes: mounts.some(({ adapter }) => adapter.takesBytes === true),
        task: null,
        storableRefusal: withoutMedia,
        redact: (message: string) => withoutRequestTexts(message, body)
      } as const

      const callsBy = <Product>(call: CallMount<Product>) =>
        Arr.map(
          mounts,
          ({
            adapter,
            accounts,
            request,
            priority,
            weight,
            job,
            cost,
            maxTasks
          }): MountedCall<Product> => ({
            priority,
            weight,
            job,
            cost,
            maxTasks,
            call: (run, chargeNow) => {
              const { upstreamModel } = job
              const vendorOrder = { upstreamModel, ...withImageAddresses(request, run.addresses) }
              return call({ adapter, accounts, vendorOrder }, run, chargeNow)
            }
          })
        )
      const isMarked = mounts.every((mount) => mount.isMarked)
      const answersBytes = mounts.some(({ ordered }) => ordered.family.answersBytes === true)
      return { terms, callsBy, model, quote, isMarked, answersBytes }
    })
  }

  /**
   * Records that the vendor's job belongs to the order, before the order waits for the job and is
   * charged. Fails when another order has the job.
   */
  const claimJob =
    (orderId: string, { channelId, origin }: KeyedAccount) =>
    (upstreamId: string) =>
      Effect.mapError(tasks.claimJob(orderId, { channelId, origin, upstreamId }), () =>
        duplicateJob(upstreamId)
      )

  const generate = (
    { adapter, accounts, vendorOrder }: ImageMount,
    orderId: string,
    recordJob: (account: KeyedAccount, upstreamId: string) => Effect.Effect<void> = () =>
      Effect.void
  ) =>
    Effect.suspend(() => {
      let delivered: DeliveredImages | null = null
      const call = keyTurns.forOrder(accounts, (account) =>
        adapter.generate(
          account,
          vendorOrder,
          (upstreamId) =>
            Effect.andThen(claimJob(orderId, account)(upstreamId), recordJob(account, upstreamId)),
          (images) => {
            delivered = images
          }
        )
      )
      return Effect.map(call, (result): Generated => ({ result, delivered }))
    })

  /**
   * Generates the images of a task. Where the vendor can cancel its job, the task records that the
   * vendor is called, and the job, so that every gateway can cancel the task.
   */
  const generateTask = Effect.fnUntraced(function* (
    { adapter, accounts, vendorOrder }: ImageMount,
    organizationId: string,
    orderId: string
  ) {
    const mount = { adapter, accounts, vendorOrder: { ...vendorOrder, isReadLater: true } }
    if (adapter.cancel === undefined) return yield* generate(mount, orderId)
    if (!(yield* tasks.startCall(organizationId, orderId))) return yield* cancelledOrder()
    return yield* generate(mount, orderId, ({ keyName, version }, upstreamId) =>
      tasks.recordJob(organizationId, orderId, { upstreamId, accountVersion: version, keyName })
    )
  })

  const chargeUnread = (charge: ImageCharge) => (failure: VendorLost, orderId: string) =>
    unreadCharge(asUnread(charge), failure, { orderId, currency })

  /** Makes an order that is answered when all of its images are complete. */
  const complete = (caller: Caller, request: ImageRequest) =>
    Effect.map(
      checkOrder(caller, request),
      ({ terms, callsBy, quote }): PaidOrder<Images, RawAnswer> => ({
        ...terms,
        ...unstreamedHooks,
        mounts: callsBy((mount, { id }) => Effect.map(generate(mount, id), imagesOf)),
        finish: (images) =>
          Effect.succeed({
            ...chargeOf(quote, images.delivered),
            repeatAnswer: () => repeatAnswerOf(images),
            answer: Exit.succeed(images.answer)
          }),
        chargeUnread: (failure, orderId) =>
          chargeUnread(chargeOf(quote, null))(failure, orderId).charge
      })
    )

  /**
   * Makes an order that is answered as soon as its hold is taken; `onHeld` is called at that time.
   */
  const task = Effect.fnUntraced(function* (
    caller: Caller,
    { body: { callback_url: callbackUrl = null, ...body }, edit }: ImageRequest,
    onHeld: (id: string) => Effect.Effect<unknown>
  ) {
    const checked = yield* checkOrder(caller, { body, edit })
    const { terms, callsBy, model, quote, isMarked, answersBytes } = checked
    if (answersBytes && !hasArchive) return yield* bytesNeedArchive
    const { organizationId } = caller
    const order: PaidOrder<CountedImages, TaskImages> = {
      ...terms,
      ...unstreamedHooks,
      mounts: callsBy((mount, { id }) =>
        Effect.flatMap(generateTask(mount, organizationId, id), ({ result, delivered }) =>
          Effect.map(archiveImages(result, { organizationId, id, isMarked }), (images) => ({
            images,
            delivered
          }))
        )
      ),
      task: {
        created: {
          listedProtocol: model.protocol,
          summary: {
            images: quote.images,
            size: body.size ?? null,
            ...(isMarked ? { marked: true } : {})
          },
          submitSeconds: imageDeadlineSeconds,
          callbackUrl,
          isArchived: hasArchive
        },
        rejected: (error) => ({
          from: "submitting",
          state: "rejected",
          errorCode: error._tag,
          errorMessage: withoutMedia(error).message
        }),
        cancelled: { from: "submitting", state: "failed", ...cancelledByVendor }
      },
      finish: ({ images, delivered }) =>
        Effect.succeed({
          ...chargeOf(quote, delivered),
          task: { from: "submitting", state: "succeeded", ...images },
          repeatAnswer: null,
          answer: Exit.succeed(images)
        }),
      chargeUnread: (failure, orderId) => {
        const unread = chargeUnread(chargeOf(quote, null))(failure, orderId)
        return {
          ...unread.charge,
          task: {
            from: "submitting",
            state: "failed",
            errorCode: unread.error._tag,
            errorMessage: unread.error.message
          },
          repeatAnswer: null
        }
      },
      around: (steps, id) => Effect.andThen(onHeld(id), steps)
    }
    return order
  })

  /**
   * Makes an order with a streamed answer. An order by the number of images is charged before the
   * first image is sent, whether or not that image is finished. An order by tokens is charged when
   * the stream ends, because the vendor counts them with the finished images: also a stream that is
   * cut short is charged for its finished images alone. Where no image was finished, the vendor's
   * count is not known, and the order is charged as held.
   */
  const streamed = Effect.fnUntraced(function* (caller: Caller, request: ImageRequest) {
    const { answer, firstEvent, offer, around } = yield* makeStreamedAnswer(imageDeadlineSeconds)
    const { terms, callsBy, quote } = yield* checkOrder(caller, request)
    const isByTokens = quote.kind === "image_tokens"
    let state: "open" | "charged" | "given up" = "open"
    let delivered: DeliveredImages | null = null
    const isOpen = () => state === "open"
    const repeatAnswer = (): RepeatAnswer => ({
      stored: { _tag: "Images", result: null },
      remembered: null
    })

    const countImages = (images: DeliveredImages | undefined): void => {
      if (images === undefined) return
      delivered = delivered === null ? images : addDelivered(delivered, images)
    }

    const takePiece = Effect.fnUntraced(function* (piece: ImagePiece, chargeNow: ChargeNow) {
      countImages(piece.delivered)
      if (piece.hasImage && isOpen()) {
        const isCharged =
          isByTokens ||
          (yield* chargeNow({ ...chargeOf(quote, null), repeatAnswer, answer: Exit.void }))
        state = isCharged ? "charged" : "given up"
      }
      // Events before the first image are not sent, as the answer may still become an error
      // response.
      if (state === "charged") yield* offer([piece.event])
      return state !== "given up"
    })

    /** The charge at the end of a stream by tokens. */
    const finishTokens = (breakOff: BreakOff): Finish<void> => ({
      ...chargeOf(quote, delivered),
      repeatAnswer,
      answer: endOf(true, breakOff)
    })

    const call: CallMount<BreakOff> = ({ adapter, accounts, vendorOrder }, _, chargeNow) =>
      keyTurns
        .forOrder(
          accounts,
          (account) =>
            adapter.stream?.(account, vendorOrder, (piece) => takePiece(piece, chargeNow)) ??
            Effect.fail(noImages),
          isOpen
        )
        .pipe(
          Effect.andThen(Effect.suspend(() => (isOpen() ? Effect.fail(noImages) : Effect.void))),
          Effect.as(null),
          // After the charge, a failure of the vendor or a defect of the gateway does not fail the
          // order: it only cuts the paid answer short.
          Effect.catchCause((cause) =>
            isOpen() || Cause.hasInterrupts(cause) ? Effect.failCause(cause) : Effect.succeed(cause)
          )
        )

    const order: PaidOrder<BreakOff, void> = {
      ...terms,
      wait: null,
      mounts: callsBy(call),
      hasBegun: () => !isOpen(),
      breakOffOf,
      finish: (breakOff) =>
        Effect.succeed(
          isByTokens
            ? finishTokens(breakOff)
            : { _tag: "Charged", answer: endOf(state === "charged", breakOff) }
        ),
      chargeUnread: (failure, orderId) =>
        chargeUnread(chargeOf(quote, null))(failure, orderId).charge,
      finishPart: () => (isByTokens && !isOpen() ? Effect.succeed(finishTokens(null)) : null),
      around
    }
    return { answer, firstEvent, order, disconnect: answer.disconnect }
  })

  return { complete, task, streamed }
})
