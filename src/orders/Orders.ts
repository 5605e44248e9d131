/** Runs paid orders of every kind, at most one order for each idempotency key. */
import { Context, Deferred, Effect, Layer, type Scope } from "effect"
import { makeKeyTurns } from "../channels/keyTurns.ts"
import {
  type IdempotencyConflict,
  type IdempotencyMismatch,
  type ImageUnsupportedProtocol,
  InvalidRequest,
  type VideoSkuInvalid,
  type VideoUnsupportedProtocol
} from "../domain/Errors.ts"
import { editRequest, type ImageEditBody } from "../domain/image/ImageEditRequest.ts"
import type { ImageBody, ImageRequest } from "../domain/image/ImageRequest.ts"
import type { MessagesBody } from "../domain/messages/MessagesRequest.ts"
import type { RerankBody } from "../domain/rerank/RerankRequest.ts"
import type { ResponsesBody } from "../domain/responses/ResponsesRequest.ts"
import type { SpeechBody } from "../domain/speech/SpeechRequest.ts"
import type { ChatBody, EmbeddingBody } from "../domain/text/TextRequest.ts"
import type { TranscriptionBody } from "../domain/transcription/TranscriptionRequest.ts"
import { type OpenaiVideoOrder, ownBodyOf } from "../domain/video/OpenaiVideoBody.ts"
import type { VideoBody } from "../domain/video/VideoBody.ts"
import { makeDetached } from "../runtime/Detached.ts"
import { Settings } from "../runtime/Settings.ts"
import type { Caller } from "../services/Access.ts"
import type {
  AnswerBody,
  FirstAnswer,
  KeyAlreadyUsed,
  RequestKey
} from "../services/IdempotencyKeys.ts"
import { makeWithIdempotency, type OrderBody, type OrderResult } from "./idempotency.ts"
import { makeImageOrder } from "./image/imageOrder.ts"
import type { OrderRefusal } from "./OrderChecks.ts"
import {
  chatRequest,
  embeddingRequest,
  makeOrderResolution,
  rerankRequest,
  textModalities
} from "./OrderResolution.ts"
import type { PaidOrder } from "./orderValue.ts"
import { makePaidOrders } from "./paidOrder.ts"
import { type StreamedAnswer, StreamedResponse } from "./streamedAnswer.ts"
import { makeTranscriptionRequests, speechRequest } from "./text/audioRequests.ts"
import { messageRequest } from "./text/messages/messageRequest.ts"
import { makeResponseRequests, makeStoredAnswer } from "./text/responses/responseRequest.ts"
import { makeSpeechTask } from "./text/speechTask.ts"
import { makeStreamedWork, type StreamedWork } from "./text/streamedWork.ts"
import { chatStreamRequest, makeTextStream, type TranslatedText } from "./text/textStream.ts"
import { makeWorkOrder } from "./text/workOrder.ts"
import { makeQueueDispatch } from "./video/queueDispatch.ts"
import { type AcceptedVideo, makeVideoOrder } from "./video/videoOrder.ts"

type OrderResultOr<A, E = never, R = never> = Effect.Effect<
  OrderResult<A>,
  E | OrderRefusal | IdempotencyConflict | IdempotencyMismatch,
  R
>

/**
 * Each method takes the caller, the body, and the `Idempotency-Key` if the request has one. A
 * client that disconnects does not stop its order: the order runs to its end, and its charge or
 * refund is recorded in the ledger.
 */
export class Orders extends Context.Service<
  Orders,
  {
    /** Returns the task's id and the kind of its video when the vendor has accepted the task. */
    video(
      caller: Caller,
      body: VideoBody,
      key?: string
    ): OrderResultOr<AcceptedVideo, VideoUnsupportedProtocol | VideoSkuInvalid>
    /**
     * Like `video`, for a body in the form of OpenAI's API. The request fingerprint contains the
     * path, so this body never counts as the same request as a body in the gateway's own form.
     */
    openaiVideo(
      caller: Caller,
      order: OpenaiVideoOrder,
      key?: string
    ): OrderResultOr<AcceptedVideo, VideoUnsupportedProtocol | VideoSkuInvalid>
    /**
     * Generates images, and charges for the requested number before it returns. A streamed answer
     * is charged before its first image is sent, whether or not that image is finished.
     */
    images(
      caller: Caller,
      body: ImageBody,
      key?: string
    ): OrderResultOr<AnswerBody | StreamedAnswer, ImageUnsupportedProtocol>
    /**
     * Like `images`, but returns the task's id as soon as the hold is taken. Images in base64 are
     * stored in the archive; without an archive, an order of images in base64 is refused.
     */
    imageTask(
      caller: Caller,
      body: ImageBody,
      key?: string
    ): OrderResultOr<string, ImageUnsupportedProtocol>
    /** Like `images`, but edits the pictures in the body. */
    edits(
      caller: Caller,
      body: ImageEditBody,
      key?: string
    ): OrderResultOr<AnswerBody | StreamedAnswer, ImageUnsupportedProtocol>
    /** Like `imageTask`, but edits the pictures in the body. */
    editTask(
      caller: Caller,
      body: ImageEditBody,
      key?: string
    ): OrderResultOr<string, ImageUnsupportedProtocol>
    /**
     * Generates a text. A complete answer is charged before it is sent, a streamed answer at the
     * end of its stream.
     */
    chat(caller: Caller, body: ChatBody, key?: string): OrderResultOr<AnswerBody | StreamedAnswer>
    /**
     * Like `chat`, in the form of the Responses API. The response is stored after its charge where
     * its client wants that. The memory of its stored conversation is reserved until the scope
     * closes.
     */
    response(
      caller: Caller,
      body: ResponsesBody,
      key?: string
    ): OrderResultOr<AnswerBody | StreamedResponse, never, Scope.Scope>
    /** Like `chat`, in the form of the Messages API. */
    message(
      caller: Caller,
      body: MessagesBody,
      key?: string
    ): OrderResultOr<AnswerBody | StreamedResponse>
    embeddings(caller: Caller, body: EmbeddingBody, key?: string): OrderResultOr<AnswerBody>
    /** Compares documents with a query. */
    rerank(caller: Caller, body: RerankBody, key?: string): OrderResultOr<AnswerBody>
    /** Speaks a text. The sound is streamed, and charged when it ends. */
    speech(caller: Caller, body: SpeechBody, key?: string): OrderResultOr<AnswerBody | StreamedWork>
    /**
     * Like `speech`, but returns the task's id as soon as the hold is taken. The sound is stored in
     * the archive; without an archive, the order is refused.
     */
    speechTask(caller: Caller, body: SpeechBody, key?: string): OrderResultOr<string>
    /** Transcribes a sound, whose length is measured before the hold. */
    transcription(
      caller: Caller,
      body: TranscriptionBody,
      key?: string
    ): OrderResultOr<AnswerBody | StreamedWork>
    /** Like `transcription`, into English. */
    translation(
      caller: Caller,
      body: TranscriptionBody,
      key?: string
    ): OrderResultOr<AnswerBody | StreamedWork>
    /** Starts the submits of waiting videos for which their channels have places. */
    readonly dispatchQueue: Effect.Effect<void>
    /**
     * Ends the videos that have waited for as long as they may, and frees the places of orders that
     * have ended.
     */
    readonly sweepQueue: Effect.Effect<void>
  }
>()("gateway/orders/Orders") {}

const needsArchive = new InvalidRequest({
  message:
    "response_format: this gateway has no archive, so images that are answered later are kept as addresses; leave it out, or order without Prefer: respond-async",
  param: "response_format"
})

const soundNeedsArchive = new InvalidRequest({
  message:
    "prefer: this gateway has no archive to store a sound that is read later; order without Prefer: respond-async",
  param: "prefer"
})

const noTaskEvents = new InvalidRequest({
  message: "stream_format: Expected audio, as a sound that is read later has no events",
  param: "stream_format"
})

const noTaskStream = new InvalidRequest({
  message: "stream: Expected false, as images that are answered later are read when they are made",
  param: "stream"
})

type OrderRun<Answer> = Effect.Effect<Answer, OrderRefusal | KeyAlreadyUsed>

interface StreamedOrder<Product, Answer> {
  readonly order: PaidOrder<Product, void>
  readonly firstEvent: Deferred.Deferred<void, OrderRefusal | KeyAlreadyUsed>
  readonly answer: Answer
  /** Marks the client as disconnected. */
  readonly disconnect: Effect.Effect<void>
}

/**
 * The answers to repeated requests, made from the stored result of the order; null where the stored
 * result belongs to an order of another path.
 */
const replays = {
  video: (recalled: FirstAnswer): AcceptedVideo | null =>
    recalled._tag === "Video"
      ? { id: recalled.id, kind: null, shape: null, isWaiting: null }
      : null,
  images: (recalled: FirstAnswer): AnswerBody | null =>
    recalled._tag === "Images" ? recalled.result : null,
  task: (recalled: FirstAnswer): string | null => (recalled._tag === "Task" ? recalled.id : null),
  text: (recalled: FirstAnswer): AnswerBody | null =>
    recalled._tag === "Text" ? recalled.result : null
}

/** The ordering endpoints. A request is identified by its path and its idempotency key. */
const makeIdempotentPaths = Effect.gen(function* () {
  const withIdempotency = yield* makeWithIdempotency
  const storedAnswer = yield* makeStoredAnswer
  const videosAt = (path: string) =>
    withIdempotency({ path, modalities: ["video"], replayOf: replays.video })
  const imagesAt = (path: string) =>
    withIdempotency<AnswerBody | StreamedAnswer>({
      path,
      modalities: ["image"],
      replayOf: replays.images
    })
  const tasksAt = (path: string, modality: "image" | "tts") =>
    withIdempotency({
      path: `${path} respond-async`,
      modalities: [modality],
      replayOf: replays.task
    })
  const audioAt = (path: string, modality: "tts" | "asr") =>
    withIdempotency<AnswerBody | StreamedWork>({
      path,
      modalities: [modality],
      replayOf: replays.text
    })
  return {
    video: videosAt("/v1/videos/generations"),
    openaiVideo: videosAt("/v1/videos"),
    images: imagesAt("/v1/images/generations"),
    imageTask: tasksAt("/v1/images/generations", "image"),
    edits: imagesAt("/v1/images/edits"),
    editTask: tasksAt("/v1/images/edits", "image"),
    chat: withIdempotency<AnswerBody | StreamedAnswer>({
      path: "/v1/chat/completions",
      modalities: textModalities,
      replayOf: replays.text
    }),
    response: withIdempotency<AnswerBody | StreamedResponse>({
      path: "/v1/responses",
      modalities: textModalities,
      replayOf: replays.text,
      storedAnswer
    }),
    message: withIdempotency<AnswerBody | StreamedResponse>({
      path: "/v1/messages",
      modalities: textModalities,
      replayOf: replays.text
    }),
    embeddings: withIdempotency({
      path: "/v1/embeddings",
      modalities: ["embedding"],
      replayOf: replays.text
    }),
    rerank: withIdempotency({
      path: "/v1/rerank",
      modalities: ["rerank"],
      replayOf: replays.text
    }),
    speech: audioAt("/v1/audio/speech", "tts"),
    speechTask: tasksAt("/v1/audio/speech", "tts"),
    transcription: audioAt("/v1/audio/transcriptions", "asr"),
    translation: audioAt("/v1/audio/translations", "asr")
  }
})

export const layerOrders = Layer.effect(
  Orders,
  Effect.gen(function* () {
    const { hasArchive } = yield* Settings
    const resolve = yield* makeOrderResolution
    const keyTurns = yield* makeKeyTurns
    const videoOrder = yield* makeVideoOrder(resolve, keyTurns)
    const imageOrder = yield* makeImageOrder(resolve, keyTurns)
    const workOrder = yield* makeWorkOrder(resolve, keyTurns)
    const textStream = yield* makeTextStream(resolve, keyTurns)
    const streamedWork = yield* makeStreamedWork(resolve, keyTurns)
    const speechTask = yield* makeSpeechTask(resolve, keyTurns)
    const makeTranscription = yield* makeTranscriptionRequests
    const makeResponse = yield* makeResponseRequests
    const { run: runOrder, submitWaiting } = yield* makePaidOrders
    const queue = yield* makeQueueDispatch(videoOrder, { submitWaiting })
    const idempotent = yield* makeIdempotentPaths
    const detached = yield* makeDetached

    /** Runs the order after its checks, and waits until it has ended. */
    const runToEnd = <Product, Answer, E>(
      check: Effect.Effect<PaidOrder<Product, Answer>, E>,
      key: RequestKey | null
    ) => Effect.flatMap(check, (order) => detached.run(runOrder(order, key)))

    /** Runs an order with a streamed answer, and waits for its first event. */
    const runStreamed = Effect.fnUntraced(function* <Product, Answer, E>(
      check: Effect.Effect<StreamedOrder<Product, Answer>, E>,
      key: RequestKey | null
    ) {
      const { order, firstEvent, answer, disconnect } = yield* check
      yield* detached.start(
        Effect.onExit(runOrder(order, key), (exit) => Deferred.done(firstEvent, exit))
      )
      yield* Effect.onInterrupt(Deferred.await(firstEvent), () => disconnect)
      return answer
    })

    /** Runs the order of a task in the background, and waits for its hold. */
    const runTask = Effect.fnUntraced(function* <Product, Answer, E>(
      check: (
        onHeld: (id: string) => Effect.Effect<unknown>
      ) => Effect.Effect<PaidOrder<Product, Answer>, E>,
      key: RequestKey | null
    ) {
      const heldId = yield* Deferred.make<string, OrderRefusal | KeyAlreadyUsed>()
      const order = yield* check((id) => Deferred.succeed(heldId, id))
      yield* detached.start(
        Effect.onError(runOrder(order, key), (cause) => Deferred.failCause(heldId, cause))
      )
      return yield* Deferred.await(heldId)
    })

    const runImageTask = Effect.fnUntraced(function* (
      caller: Caller,
      request: ImageRequest,
      key: RequestKey | null
    ) {
      const { body } = request
      if (body.stream === true) return yield* noTaskStream
      if (body.response_format === "b64_json" && !hasArchive) return yield* needsArchive
      return yield* runTask((onHeld) => imageOrder.task(caller, request, onHeld), key)
    })

    const runSpeechTask = Effect.fnUntraced(function* (
      caller: Caller,
      body: SpeechBody,
      key: RequestKey | null
    ) {
      if (body.stream_format === "sse") return yield* noTaskEvents
      if (!hasArchive) return yield* soundNeedsArchive
      return yield* runTask((onHeld) => speechTask(caller, body, onHeld), key)
    })

    const runImages = (caller: Caller, request: ImageRequest, key: RequestKey | null) =>
      request.body.stream === true
        ? runStreamed(imageOrder.streamed(caller, request), key)
        : runToEnd(imageOrder.complete(caller, request), key)

    const runChat = (caller: Caller, body: ChatBody, key: RequestKey | null) =>
      body.stream === true
        ? runStreamed(textStream(caller, chatStreamRequest(body)), key)
        : runToEnd(workOrder(caller, chatRequest(body)), key)

    /** Runs a text that its client gets in the form of another API than chats. */
    const runTranslated = <E, R>(
      caller: Caller,
      { stream }: OrderBody,
      translation: Effect.Effect<TranslatedText, E, R>,
      key: RequestKey | null
    ) =>
      Effect.flatMap(
        translation,
        ({ request, withAnswer, lastEventsOf }): OrderRun<AnswerBody | StreamedResponse> => {
          if (stream !== true) {
            return runToEnd(Effect.map(workOrder(caller, request), withAnswer), key)
          }
          const order = Effect.map(textStream(caller, request), (text) => ({
            ...text,
            order: withAnswer(text.order),
            answer: new StreamedResponse(text.answer, lastEventsOf)
          }))
          return runStreamed(order, key)
        }
      )

    /** Runs an order whose sound is read and measured before the hold. */
    const runTranscription = (
      caller: Caller,
      body: TranscriptionBody,
      isTranslation: boolean,
      key: RequestKey | null
    ) =>
      Effect.flatMap(
        makeTranscription(caller, body, isTranslation),
        (request): OrderRun<AnswerBody | StreamedWork> =>
          "streamWork" in request
            ? runStreamed(streamedWork(caller, request), key)
            : runToEnd(workOrder(caller, request), key)
      )

    return Orders.of({
      dispatchQueue: queue.dispatch,
      sweepQueue: queue.sweep,
      video: (caller, body, key) =>
        idempotent.video(caller, body, key, (requestKey) =>
          runToEnd(videoOrder(caller, body), requestKey)
        ),
      openaiVideo: (caller, order, key) =>
        idempotent.openaiVideo(caller, order, key, (requestKey) =>
          runToEnd(videoOrder(caller, ownBodyOf(order), order), requestKey)
        ),
      images: (caller, body, key) =>
        idempotent.images(caller, body, key, (requestKey) =>
          runImages(caller, { body, edit: null }, requestKey)
        ),
      imageTask: (caller, body, key) =>
        idempotent.imageTask(caller, body, key, (requestKey) =>
          runImageTask(caller, { body, edit: null }, requestKey)
        ),
      edits: (caller, body, key) =>
        idempotent.edits(caller, body, key, (requestKey) =>
          runImages(caller, editRequest(body), requestKey)
        ),
      editTask: (caller, body, key) =>
        idempotent.editTask(caller, body, key, (requestKey) =>
          runImageTask(caller, editRequest(body), requestKey)
        ),
      chat: (caller, body, key) =>
        idempotent.chat(caller, body, key, (requestKey) => runChat(caller, body, requestKey)),
      response: (caller, body, key) =>
        idempotent.response(caller, body, key, (requestKey) =>
          runTranslated(caller, body, makeResponse(caller, body), requestKey)
        ),
      message: (caller, body, key) =>
        idempotent.message(caller, body, key, (requestKey) =>
          runTranslated(caller, body, messageRequest(body), requestKey)
        ),
      embeddings: (caller, body, key) =>
        idempotent.embeddings(caller, body, key, (requestKey) =>
          runToEnd(workOrder(caller, embeddingRequest(body)), requestKey)
        ),
      rerank: (caller, body, key) =>
        idempotent.rerank(caller, body, key, (requestKey) =>
          runToEnd(workOrder(caller, rerankRequest(body)), requestKey)
        ),
      speech: (caller, body, key) =>
        idempotent.speech(caller, body, key, (requestKey) =>
          runStreamed(streamedWork(caller, speechRequest(body)), requestKey)
        ),
      speechTask: (caller, body, key) =>
        idempotent.speechTask(caller, body, key, (requestKey) =>
          runSpeechTask(caller, body, requestKey)
        ),
      transcription: (caller, body, key) =>
        idempotent.transcription(caller, body, key, (requestKey) =>
          runTranscription(caller, body, false, requestKey)
        ),
      translation: (caller, body, key) =>
        idempotent.translation(caller, body, key, (requestKey) =>
          runTranscription(caller, body, true, requestKey)
        )
    })
  })
)
