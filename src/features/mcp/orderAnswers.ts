/** The answers about orders: how a task stands, the links to its files, and the files themselves. */
import type { ContentBlock } from "@modelcontextprotocol/server"
import { Effect, Schema } from "effect"
import { formatNano } from "../../domain/money/Money.ts"
import { type TaskKind, taskKinds, taskNamed } from "../../domain/orderIds.ts"
import { imageAddresses } from "../../domain/taskAnswers.ts"
import { CurrentCaller } from "../../http/api/middlewares.ts"
import {
  amount,
  arrayOf,
  cancellationFields,
  flag,
  integer,
  MAX_WAIT_SECONDS,
  oneOf,
  queueFields,
  TaskFailure,
  taskId,
  text
} from "../../http/api/shared.ts"
import { makeFileResponses } from "../../http/handlers/orders/fileResponses.ts"
import { makeTaskResponses } from "../../http/handlers/orders/taskResponses.ts"
import { ReadLanes } from "../../http/server/access/readLanes.ts"
import type { Scope } from "../../services/Access.ts"
import { OrderLists } from "../../services/OrderLists.ts"
import type { Task } from "../../services/TaskRepo.ts"
import { MAX_EMBEDDED_BYTES } from "./orderTerms.ts"
import { answerWith } from "./toolAnswers.ts"

/** The scope that a key needs for the orders of each kind. */
export const scopesOfKind = {
  video: "videos",
  image: "images",
  speech: "audio"
} as const satisfies Record<TaskKind, Scope>

const OrderFile = Schema.Struct({
  url: Schema.optionalKey(
    text("The link to the file, open for a day without a key; absent where it is embedded alone")
  ),
  name: text("What the file is", "image-1"),
  embedded: flag("Whether the file itself is in this answer")
})

export const OrderAnswer = Schema.Struct({
  id: Schema.optionalKey(
    taskId.annotate({
      description:
        "The order's id, for get_order; absent where the gateway has no archive and keeps no order to read"
    })
  ),
  kind: oneOf(taskKinds, "What was ordered", "video"),
  task_status: oneOf(["processing", "succeeded", "failed"], "How the order stands"),
  files: arrayOf(OrderFile, "The files of an order that has succeeded"),
  charge: Schema.optionalKey(amount("What was charged, of an order of this member that has ended")),
  error: Schema.optionalKey(
    TaskFailure.annotate({ description: "Why the order failed; it costs nothing" })
  ),
  ...queueFields,
  ...cancellationFields,
  poll_after_ms: Schema.optionalKey(integer("Milliseconds until it is worth asking again", 5000)),
  replayed: Schema.optionalKey(
    flag("True where this call repeats an earlier one, whose order this is")
  ),
  next_step: Schema.optionalKey(text("What to do now, of an order that goes on"))
}).annotate({ description: "An order of a video, of images or of speech" })
export type OrderAnswer = typeof OrderAnswer.Type

export const orderAnswer = answerWith(OrderAnswer)

const linkBlock = (uri: string, name: string): ContentBlock => ({
  type: "resource_link",
  uri,
  name
})

/** A file as a client shows it: a picture, or a sound. */
export const fileBlock = (bytes: Uint8Array, mimeType: string): ContentBlock => ({
  type: mimeType.startsWith("audio/") ? "audio" : "image",
  data: Buffer.from(bytes).toString("base64"),
  mimeType
})

const isEmbeddable = (mimeType: string): boolean => /^(?:audio|image)\//.test(mimeType)

interface LinkedFile {
  readonly n: number
  readonly name: string
  readonly url: string
}

export interface AnswerOptions {
  readonly embed?: boolean
  readonly isReplay?: boolean
}

/** The content of a task that has ended or goes on, as a read of it has it. */
type ReadTask = Effect.Success<
  ReturnType<Effect.Success<ReturnType<typeof makeTaskResponses>>["readTask"]>
>

export const makeOrderAnswers = Effect.gen(function* () {
  const readers = {
    video: yield* makeTaskResponses("video"),
    image: yield* makeTaskResponses("image"),
    speech: yield* makeTaskResponses("speech")
  }
  const files = yield* makeFileResponses
  const lists = yield* OrderLists
  const lanes = yield* ReadLanes

  const filesOf = Effect.fnUntraced(function* (kind: TaskKind, task: Task) {
    const linkOf = (yield* readers[kind].linksOf)(task)
    const file = (n: number, name: string, url = linkOf(n)): LinkedFile => ({ n, name, url })
    switch (kind) {
      case "image":
        return imageAddresses(task).map((_, n) => file(n, `image-${n + 1}`))
      case "speech":
        return [file(0, "speech")]
      case "video":
        return [
          file(0, "video"),
          ...(task.stills?.lastFrameUrl === undefined
            ? []
            : [file(1, "last-frame", `${linkOf(0)}&variant=last_frame`)])
        ]
    }
  })

  /**
   * Loads pictures or a sound one after another, as long as they are together within the bound. No
   * client shows an embedded video.
   */
  const embedFiles = Effect.fnUntraced(function* (
    kind: TaskKind,
    task: Task,
    linkedFiles: ReadonlyArray<LinkedFile>
  ) {
    const blocks = new Map<number, ContentBlock>()
    let left = MAX_EMBEDDED_BYTES
    for (const { n } of kind === "video" ? [] : linkedFiles) {
      const file = yield* files.bytes(task, n, left)
      if (file === null || file.bytes === null || !isEmbeddable(file.contentType)) continue
      left -= file.bytes.byteLength
      blocks.set(n, fileBlock(file.bytes, file.contentType))
    }
    return blocks
  })

  /** The charge of the caller's own order; a colleague's is not shown. */
  const chargeOf = (id: string) =>
    CurrentCaller.pipe(
      Effect.flatMap((caller) => lists.find(caller, id)),
      Effect.map(({ chargeNano }) => ({ charge: formatNano(chargeNano) })),
      Effect.orElseSucceed(() => ({}))
    )

  const nextStepOf = (kind: TaskKind, task: Task) => ({
    poll_after_ms: readers[kind].pollMillis(task),
    next_step: `Call get_order with the id ${task.id} and a wait of ${MAX_WAIT_SECONDS}, until task_status is not processing`
  })

  const answer = Effect.fnUntraced(function* (
    kind: TaskKind,
    { task, body }: ReadTask,
    { embed = false, isReplay = false }: AnswerOptions
  ) {
    const status = body.task_status
    const taskFiles = status === "succeeded" ? yield* filesOf(kind, task) : []
    const blocks = yield* embedFiles(kind, task, embed ? taskFiles : [])
    return yield* orderAnswer(
      {
        id: task.id,
        kind,
        task_status: status,
        files: taskFiles.map(({ n, name, url }) => ({ url, name, embedded: blocks.has(n) })),
        ...("error" in body && body.error != null ? { error: body.error } : {}),
        ...(task.finished ? yield* chargeOf(task.id) : nextStepOf(kind, task)),
        ...("queue" in body ? { queue: body.queue } : {}),
        ...("cancellation" in body ? { cancellation: body.cancellation } : {}),
        ...(isReplay ? { replayed: true } : {})
      },
      {
        isError: status === "failed",
        content: [...taskFiles.map(({ url, name }) => linkBlock(url, name)), ...blocks.values()]
      }
    )
  })

  /** The stored id of an order, whichever form of it the client sent. */
  const storedId = (id: string): string => taskNamed(id)?.id ?? id

  return {
    readers,
    /** Reads the task in the lane of its caller, as soon as it has ended or the wait is over. */
    read: (kind: TaskKind, id: string, waitSeconds: number) =>
      Effect.flatMap(CurrentCaller, ({ organizationId }) =>
        lanes.withTaskTurns(organizationId, readers[kind].readTask(storedId(id), waitSeconds))
      ),
    cancel: (kind: TaskKind, id: string) => readers[kind].cancelTask(storedId(id)),
    answer
  }
})

export type OrderAnswers = Effect.Success<typeof makeOrderAnswers>
