/**
 * The tools that order videos, images and speech. Each runs through `Orders` as the route of the
 * same order does.
 */
import type { ContentBlock } from "@modelcontextprotocol/server"
import { Clock, Effect, Option, Predicate, Schema, Stream } from "effect"
import { type GatewayError, InvalidRequest, type UpstreamError } from "../../domain/Errors.ts"
import { mediaTypeOf } from "../../domain/files/mediaTypes.ts"
import { ImageBody } from "../../domain/image/ImageRequest.ts"
import type { TaskKind } from "../../domain/orderIds.ts"
import { RawAnswer } from "../../domain/RawAnswer.ts"
import { SpeechBody } from "../../domain/speech/SpeechRequest.ts"
import { VideoBody } from "../../domain/video/VideoBody.ts"
import { youngTask } from "../../http/handlers/orders/taskResponses.ts"
import { decodeBody } from "../../http/server/requestRules.ts"
import type { OrderResult } from "../../orders/idempotency.ts"
import { Orders } from "../../orders/Orders.ts"
import { StreamedAnswer } from "../../orders/streamedAnswer.ts"
import { StreamedWork } from "../../orders/text/streamedWork.ts"
import { Settings } from "../../runtime/Settings.ts"
import type { AnswerBody } from "../../services/IdempotencyKeys.ts"
import { workingTask } from "./mcpTasks.ts"
import { fileBlock, OrderAnswer, type OrderAnswers, orderAnswer } from "./orderAnswers.ts"
import { EmbeddedOrderTerms, makeOrderTerms, OrderTerms, type TermedOrder } from "./orderTerms.ts"
import type { Tool } from "./toolAnswers.ts"
import { orderInputOf, outputSchemaOf } from "./toolSchemas.ts"

/**
 * Seconds for which an order of images or speech waits for its end. It is below the minute after
 * which clients of the protocol usually give up; a longer order is then read by `get_order`.
 */
const WAIT_SECONDS = 50

/** Fields that have one spelling among the arguments, and fields of answers that no tool gives. */
const omittedVideoFields = ["image", "image_url", "audio", "audio_url", "video", "video_url"]
const omittedImageFields = ["image", "image_url", "stream", "partial_images", "response_format"]
const omittedSpeechFields = ["stream_format"]

/** The annotations of tools that spend money. */
const paidHints = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true
}

const TERMS =
  "Needs max_cost or quote_id. It is never charged more, and costs nothing where it fails. A repeat with the same call_id or quote_id gets the first order."

const outputSchema = outputSchemaOf(OrderAnswer)

const noEvents = (param: string) =>
  new InvalidRequest({
    message: `${param}: Expected nothing, as a tool answers when the order has ended`,
    param
  })

const noTask = new InvalidRequest({
  message:
    "callback_url: Expected nothing, as this gateway has no archive and answers the order when it has ended",
  param: "callback_url"
})

const decodeFields = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))
)

/** The fields of an answer's body, whose bytes are then released. */
const fieldsOf = (body: AnswerBody): Readonly<Record<string, unknown>> => {
  if (!(body instanceof RawAnswer)) return body
  const text = body.text ?? Buffer.concat(body.chunks).toString("utf8")
  body.release()
  return Option.getOrElse(decodeFields(text), () => ({}))
}

interface ProductFile {
  readonly url: string | null
  readonly block: ContentBlock | null
}

const imageOf = (entry: unknown): ProductFile => {
  if (Predicate.hasProperty(entry, "b64_json") && typeof entry.b64_json === "string") {
    const bytes = Buffer.from(entry.b64_json, "base64")
    return { url: null, block: fileBlock(bytes, mediaTypeOf(bytes) ?? "image/png") }
  }
  const url = Predicate.hasProperty(entry, "url") ? entry.url : null
  return { url: typeof url === "string" ? url : null, block: null }
}

export const makeOrderTools = Effect.fnUntraced(function* (answers: OrderAnswers) {
  const orders = yield* Orders
  const { hasArchive } = yield* Settings
  const { decode } = yield* makeOrderTerms
  const decodeVideo = decodeBody(VideoBody)
  const decodeImages = decodeBody(ImageBody)
  const decodeSpeech = decodeBody(SpeechBody)

  /** The result of an order, whose errors name the arguments of the tool. */
  const placeOrder = <A, E extends GatewayError, R>(
    { nameArgument }: TermedOrder,
    order: Effect.Effect<OrderResult<A>, E, R>
  ) =>
    order.pipe(
      Effect.flatMap(({ answer, isReplay }) =>
        Effect.map(Effect.fromResult(answer), (product) => ({ product, isReplay }))
      ),
      Effect.mapError((error: E | UpstreamError) => nameArgument(error))
    )

  /** Answers an order with files that were made at once, and of which the gateway keeps none. */
  const answerWithFiles = (
    kind: TaskKind,
    files: ReadonlyArray<ProductFile>,
    isReplay: boolean
  ) => {
    const namedFiles = files.map((file, n) => ({ ...file, name: `${kind}-${n + 1}` }))
    const links = namedFiles.flatMap(
      ({ url, name }): ReadonlyArray<ContentBlock> =>
        url === null ? [] : [{ type: "resource_link", uri: url, name }]
    )
    return orderAnswer(
      {
        kind,
        task_status: "succeeded",
        files: namedFiles.map(({ url, name, block }) => ({
          ...(url === null ? {} : { url }),
          name,
          embedded: block !== null
        })),
        ...(isReplay ? { replayed: true } : {})
      },
      { content: [...links, ...namedFiles.flatMap(({ block }) => block ?? [])] }
    )
  }

  /** Waits for the end of a task, and answers how it stands. */
  const follow = Effect.fnUntraced(function* (
    kind: TaskKind,
    { product: id, isReplay }: { readonly product: string; readonly isReplay: boolean },
    embed: boolean
  ) {
    const task = yield* answers.read(kind, id, WAIT_SECONDS)
    return yield* answers.answer(kind, task, { embed, isReplay })
  })

  const orderVideo: Tool = {
    name: "order_video",
    title: "Order a video",
    description: `Orders a video and answers at once; the video takes minutes. ${TERMS} Follow it as a task where the client supports tasks, and else with get_order.`,
    annotations: paidHints,
    scopes: ["videos"],
    inputSchema: orderInputOf(VideoBody, OrderTerms, omittedVideoFields),
    outputSchema,
    run: Effect.fn("mcp.orderVideo")(function* (args, supportsTasks) {
      const order = yield* decode("order_video", args)
      const body = yield* decodeVideo(order.fields)
      yield* answers.readers.video.checkCallbackUrl(body.callback_url)
      const { product, isReplay } = yield* placeOrder(
        order,
        orders.video(order.caller, body, order.key)
      )
      const { id, kind } = product
      if (!supportsTasks) {
        return yield* answers.answer("video", yield* answers.read("video", id, 0), { isReplay })
      }
      const pollMillis = answers.readers.video.pollMillis(youngTask(kind))
      return workingTask(id, yield* Clock.currentTimeMillis, { pollMillis, isReplay })
    })
  }

  const orderImages: Tool = {
    name: "order_images",
    title: "Order images",
    description: `Orders images and answers with links to them, up to ${WAIT_SECONDS} seconds later; a longer order is then read with get_order. ${TERMS}`,
    annotations: paidHints,
    scopes: ["images"],
    inputSchema: orderInputOf(ImageBody, EmbeddedOrderTerms, omittedImageFields),
    outputSchema,
    run: Effect.fn("mcp.orderImages")(function* (args) {
      const order = yield* decode("order_images", args)
      const { caller, key, embed } = order
      const body = yield* decodeImages(order.fields)
      if (body.stream === true) return yield* noEvents("stream")
      if (hasArchive) {
        yield* answers.readers.image.checkCallbackUrl(body.callback_url)
        const task = yield* placeOrder(order, orders.imageTask(caller, body, key))
        return yield* follow("image", task, embed)
      }
      if (body.callback_url != null) return yield* noTask
      // Nothing keeps the images, so the only way to embed them is to have them made in base64.
      const isInline = embed && body.response_format == null
      const sentBody = isInline ? { ...body, response_format: "b64_json" as const } : body
      const { product, isReplay } = yield* placeOrder(order, orders.images(caller, sentBody, key))
      if (product instanceof StreamedAnswer) return yield* noEvents("stream")
      const { data } = fieldsOf(product)
      const images = Array.isArray(data) ? data.map(imageOf) : []
      return yield* answerWithFiles("image", images, isReplay)
    })
  }

  /** The sound of an order without an archive, which is streamed to this call alone. */
  const soundOf = Effect.fnUntraced(function* (
    product: AnswerBody | StreamedWork
  ): Effect.fn.Return<ProductFile, UpstreamError> {
    if (!(product instanceof StreamedWork)) {
      if (!(product instanceof RawAnswer)) return { url: null, block: null }
      const bytes = Buffer.concat(product.chunks)
      product.release()
      return { url: null, block: fileBlock(bytes, product.contentType) }
    }
    let failure: UpstreamError | null = null
    const { answer, contentType } = product
    const chunks = yield* answer
      .events((error) => {
        failure = error
        return null
      })
      .pipe(Stream.runCollect, Effect.ensuring(answer.disconnect))
    if (failure !== null) return yield* Effect.fail(failure)
    return { url: null, block: fileBlock(Buffer.concat(chunks), contentType) }
  })

  const orderSpeech: Tool = {
    name: "order_speech",
    title: "Order speech",
    description: `Has a text spoken and answers with a link to the sound, up to ${WAIT_SECONDS} seconds later; a longer order is then read with get_order. ${TERMS}`,
    annotations: paidHints,
    scopes: ["audio"],
    inputSchema: orderInputOf(SpeechBody, EmbeddedOrderTerms, omittedSpeechFields),
    outputSchema,
    run: Effect.fn("mcp.orderSpeech")(function* (args) {
      const order = yield* decode("order_speech", args)
      const { caller, key, embed } = order
      const body = yield* decodeSpeech(order.fields)
      if (body.stream_format === "sse") return yield* noEvents("stream_format")
      if (hasArchive) {
        yield* answers.readers.speech.checkCallbackUrl(body.callback_url)
        const task = yield* placeOrder(order, orders.speechTask(caller, body, key))
        return yield* follow("speech", task, embed)
      }
      if (body.callback_url != null) return yield* noTask
      const { product, isReplay } = yield* placeOrder(order, orders.speech(caller, body, key))
      return yield* answerWithFiles("speech", [yield* soundOf(product)], isReplay)
    })
  }

  return [orderVideo, orderImages, orderSpeech]
})
