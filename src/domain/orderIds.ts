/** Order ids: a prefix for the kind of order, and a UUIDv7. */

/** The id prefix of each kind of order. */
export const orderPrefixes = { video: "vt", image: "im", speech: "sp", text: "tx" } as const

export type OrderKind = keyof typeof orderPrefixes

const UUID_V7 = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"
const orderId = new RegExp(`^(?:${Object.values(orderPrefixes).join("|")})_${UUID_V7}$`)
/** The kinds of orders that are tasks, which may continue after their client was answered. */
export const taskKinds = ["video", "image", "speech"] as const
export type TaskKind = (typeof taskKinds)[number]

/** The path under which the tasks of each kind are read. */
export const taskPaths = {
  video: "/v1/videos",
  image: "/v1/images",
  speech: "/v1/audio/speech"
} as const satisfies Record<TaskKind, string>

const taskIds = {
  video: new RegExp(`^${orderPrefixes.video}_${UUID_V7}$`),
  image: new RegExp(`^${orderPrefixes.image}_${UUID_V7}$`),
  speech: new RegExp(`^${orderPrefixes.speech}_${UUID_V7}$`)
} satisfies Record<TaskKind, RegExp>

/** Whether a text has the form of an order id. */
export const isOrderId = (text: string): boolean => orderId.test(text)

/** The kind of task by the form of its id; null for any other text. */
export const taskKindOf = (text: string): TaskKind | null =>
  taskKinds.find((kind) => taskIds[kind].test(text)) ?? null

/** The API in which a video is ordered and read: the gateway's own or OpenAI's. */
export const taskDialects = ["own", "openai"] as const
export type TaskDialect = (typeof taskDialects)[number]

const openaiId = new RegExp(`^video_(${UUID_V7})$`)

/** The id of a video task in OpenAI's form. */
export const openaiIdOf = (id: string): string =>
  `video_${id.slice(orderPrefixes.video.length + 1)}`

/** A task as a client names it. */
export interface TaskName {
  readonly kind: TaskKind
  /** The primary key under which the order is stored. */
  readonly id: string
  readonly dialect: TaskDialect
}

/** Parses a task id from a client: `vt_`, `im_`, `sp_` or `video_` and a UUID; null for any other text. */
export const taskNamed = (text: string): TaskName | null => {
  const uuid = openaiId.exec(text)?.[1]
  if (uuid !== undefined) {
    return { kind: "video", id: `${orderPrefixes.video}_${uuid}`, dialect: "openai" }
  }
  const kind = taskKindOf(text)
  return kind === null ? null : { kind, id: text, dialect: "own" }
}

/** The creation time in an order id, in Unix milliseconds. */
export const millisOfId = (id: string): number => {
  const uuid = id.slice(id.indexOf("_") + 1)
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16)
}

/**
 * The common prefix of all UUIDv7 values of a given millisecond. It is a lower bound for later
 * values and an upper bound for earlier ones.
 */
export const uuidBeginning = (at: Date): string => {
  const hex = Math.max(0, at.getTime()).toString(16).padStart(12, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}
