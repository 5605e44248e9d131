/** Paid orders of every kind: checked and priced, run once for each key, and answered. */
import { Context, Deferred, Effect, Layer, type Scope } from "effect"
import { makeKeyTurns } from "../channels/keyTurns.ts"
import {
  type IdempotencyConflict,
  type IdempotencyMismatch,
  type ImageUnsupportedProtocol,
  InvalidRequest,
  type Overloaded,
  type VideoSkuInvalid,
  type VideoUnsupportedProtocol
} from "../domain/Errors.ts"
import { editRequest, type ImageEditBody } from "../domain/image/ImageEditRequest.ts"
import type { ImageBody, ImageRequest } from "../domain/image/ImageRequest.ts"
import type { ChatBody, EmbeddingBody } from "../domain/text/TextRequest.ts"
import type { OpenaiVideoOrder } from "../domain/video/OpenaiVideoBody.ts"
import type { VideoBody } from "../domain/video/VideoBody.ts"
import { makeDetached } from "../runtime/Detached.ts"
import { Settings } from "../runtime/Settings.ts"
import type { Caller } from "../services/Access.ts"
import type {
  AnswerBody,
  KeyAlreadyUsed,
  Recalled,
  RequestKey
} from "../services/IdempotencyKeys.ts"
import { makeOnce, type Ordered } from "./idempotency.ts"
import { makeImageOrder } from "./image/imageOrder.ts"
import type { OrderRefusal } from "./OrderChecks.ts"
import {
  chatRequest,
  embeddingRequest,
  makeOrderResolution,
  type TextRequest
} from "./OrderResolution.ts"
import { makeGiveFiles } from "./orderFiles.ts"
import type { PaidOrder } from "./orderValue.ts"
import { makePaidOrders } from "./paidOrder.ts"
import type { StreamedAnswer } from "./streamedAnswer.ts"
import { makeTextOrder } from "./text/textOrder.ts"
import { makeTextStream } from "./text/textStream.ts"
import { type AcceptedVideo, makeVideoOrder } from "./video/videoOrder.ts"

type OrderedOr<A, E = never> = Effect.Effect<
  Ordered<A>,
  E | OrderRefusal | IdempotencyConflict | IdempotencyMismatch
>

/**
 * Each takes the caller, the body, and the `Idempotency-Key` where the request has one. A client that
 * goes away stops nothing: the order runs to its end, and its charge or refund is in the books.
 */
export class Orders extends Context.Service<
  Orders,
  {
    /** Answers the task's id and price once the vendor has accepted it. */
    video(
      caller: Caller,
      body: VideoBody,
      key?: string
    ): OrderedOr<AcceptedVideo, VideoUnsupportedProtocol | VideoSkuInvalid>
    /** The same in the words of OpenAI's videos: another request than one in ours, whatever it says. */
    openaiVideo(
      caller: Caller,
      order: OpenaiVideoOrder,
      key?: string
    ): OrderedOr<AcceptedVideo, VideoUnsupportedProtocol | VideoSkuInvalid>
    /**
     * Makes images and charges for the requested number before it answers. Where the client asks for
     * a stream, it is answered with the first image, finished or not, and charged before.
     */
    images(
      caller: Caller,
      body: ImageBody,
      key?: string
    ): OrderedOr<AnswerBody | StreamedAnswer, ImageUnsupportedProtocol>
    /**
     * The same, answered with its id as soon as the hold is taken. Images that come in base64 are kept in
     * the archive; where there is none, an order that asks for them is refused.
     */
    imageTask(
      caller: Caller,
      body: ImageBody,
      key?: string
    ): OrderedOr<string, ImageUnsupportedProtocol>
    /** Like `images`, of the pictures it has. */
    edits(
      caller: Caller,
      body: ImageEditBody,
      key?: string
    ): OrderedOr<AnswerBody | StreamedAnswer, ImageUnsupportedProtocol>
    /** Like `imageTask`, of the pictures it has. */
    editTask(
      caller: Caller,
      body: ImageEditBody,
      key?: string
    ): OrderedOr<string, ImageUnsupportedProtocol>
    /**
     * Has a text written. It is answered whole and charged before, or where the client asks for a
     * stream with the vendor's first event, and charged at its end.
     */
    chat(caller: Caller, body: ChatBody, key?: string): OrderedOr<AnswerBody | StreamedAnswer>
    embeddings(caller: Caller, body: EmbeddingBody, key?: string): OrderedOr<AnswerBody>
  }
>()("gateway/orders/Orders") {}

const noBase64 = new InvalidRequest({
  message:
    "response_format: this gateway has no archive, so images that are answered later are kept as addresses; leave it out, or order without Prefer: respond-async",
  param: "response_format"
})

const noStreamLater = new InvalidRequest({
  message: "stream: Expected false, as images that are answered later are read when they are made",
  param: "stream"
})

/** An order with what it needs at hand, for as long as it runs. */
type Prepared<Made, Answer> = Effect.Effect<PaidOrder<Made, Answer>, Overloaded, Scope.Scope>

interface StreamedOrder<Made> {
  readonly order: Prepared<Made, void>
  readonly begun: Deferred.Deferred<void, OrderRefusal | KeyAlreadyUsed>
  readonly answer: StreamedAnswer
}

const textOf = (recalled: Recalled): AnswerBody | null =>
  recalled._tag === "Text" ? recalled.result : null

export const layerOrders = Layer.effect(
  Orders,
  Effect.gen(function* () {
    const { hasArchive } = yield* Settings
    const resolve = yield* makeOrderResolution
    const keyTurns = yield* makeKeyTurns
    const giveFiles = yield* makeGiveFiles
    const videoOrder = yield* makeVideoOrder(resolve, keyTurns, giveFiles)
    const imageOrder = yield* makeImageOrder(resolve, keyTurns, giveFiles)
    const textOrder = yield* makeTextOrder(resolve, keyTurns)
    const textStream = yield* makeTextStream(resolve, keyTurns)
    const runOrder = yield* makePaidOrders
    const once = yield* makeOnce
    const detached = yield* makeDetached

    const run = <Made, Answer>(prepared: Prepared<Made, Answer>, key: RequestKey | null) =>
      Effect.scoped(Effect.flatMap(prepared, (order) => runOrder(order, key)))

    /** Runs what the checks and the price let through, and waits for it. */
    const whole =
      <Made, Answer, E>(checked: Effect.Effect<Prepared<Made, Answer>, E>) =>
      (key: RequestKey | null) =>
        Effect.flatMap(checked, (prepared) => detached.run(run(prepared, key)))

    const wholeText = (caller: Caller, request: TextRequest) =>
      whole(Effect.map(textOrder(caller, request), Effect.succeed))

    const imageTask = (caller: Caller, request: ImageRequest) =>
      Effect.fnUntraced(function* (key: RequestKey | null) {
        const { body } = request
        if (body.stream === true) return yield* noStreamLater
        if (body.response_format === "b64_json" && !hasArchive) return yield* noBase64
        const begun = yield* Deferred.make<string, OrderRefusal | KeyAlreadyUsed>()
        const order = yield* imageOrder.task(caller, request, (id) => Deferred.succeed(begun, id))
        yield* detached.start(
          Effect.onError(run(order, key), (cause) => Deferred.failCause(begun, cause))
        )
        return yield* Deferred.await(begun)
      })

    /** Runs what is answered while it is made, and waits for its first event. */
    const streamed =
      <Made, E>(checked: Effect.Effect<StreamedOrder<Made>, E>) =>
      (key: RequestKey | null) =>
        Effect.gen(function* () {
          const { order, begun, answer } = yield* checked
          yield* detached.start(
            Effect.onExit(run(order, key), (exit) => Deferred.done(begun, exit))
          )
          yield* Effect.onInterrupt(Deferred.await(begun), () => answer.leave)
          return answer
        })

    const streamedText = (caller: Caller, body: ChatBody) =>
      streamed(
        Effect.map(textStream(caller, body), ({ order, ...text }) => ({
          ...text,
          order: Effect.succeed(order)
        }))
      )

    const videoOf = (recalled: Recalled): AcceptedVideo | null =>
      recalled._tag === "Video" ? { id: recalled.id, quote: null, shape: null } : null
    const onceVideoAt = (path: string) => once({ path, modalities: ["video"], replayOf: videoOf })
    const onceVideo = onceVideoAt("/v1/videos/generations")
    const onceOpenaiVideo = onceVideoAt("/v1/videos")
    const ofImages = (path: string) => ({
      now: once<AnswerBody | StreamedAnswer>({
        path,
        modalities: ["image"],
        replayOf: (recalled) => (recalled._tag === "Images" ? recalled.result : null)
      }),
      later: once({
        path: `${path} respond-async`,
        modalities: ["image"],
        replayOf: (recalled) => (recalled._tag === "ImageTask" ? recalled.id : null)
      })
    })
    const onceGenerated = ofImages("/v1/images/generations")
    const onceEdited = ofImages("/v1/images/edits")
    const imagesNow = (caller: Caller, request: ImageRequest) =>
      request.body.stream === true
        ? streamed(imageOrder.streamed(caller, request))
        : whole(imageOrder.whole(caller, request))
    const onceChat = once<AnswerBody | StreamedAnswer>({
      path: "/v1/chat/completions",
      modalities: ["chat", "vlm"],
      replayOf: textOf
    })
    const onceEmbeddings = once({
      path: "/v1/embeddings",
      modalities: ["embedding"],
      replayOf: textOf
    })

    return Orders.of({
      video: (caller, body, key) => onceVideo(caller, body, key, whole(videoOrder(caller, body))),
      openaiVideo: (caller, order, key) => {
        const { seconds: _, size: __, callbackUrl, ...rest } = order
        const body = { ...rest, callback_url: callbackUrl }
        return onceOpenaiVideo(caller, order, key, whole(videoOrder(caller, body, order)))
      },
      images: (caller, body, key) =>
        onceGenerated.now(caller, body, key, imagesNow(caller, { body, edit: null })),
      imageTask: (caller, body, key) =>
        onceGenerated.later(caller, body, key, imageTask(caller, { body, edit: null })),
      edits: (caller, body, key) =>
        onceEdited.now(caller, body, key, imagesNow(caller, editRequest(body))),
      editTask: (caller, body, key) =>
        onceEdited.later(caller, body, key, imageTask(caller, editRequest(body))),
      chat: (caller, body, key) =>
        body.stream === true
          ? onceChat(caller, body, key, streamedText(caller, body))
          : onceChat(caller, body, key, wholeText(caller, chatRequest(body))),
      embeddings: (caller, body, key) =>
        onceEmbeddings(caller, body, key, wholeText(caller, embeddingRequest(body)))
    })
  })
)
