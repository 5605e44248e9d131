/** Ids of orders: what kind they are of, and a UUIDv7. */

/** Each kind of order, and how its ids begin. */
export const orderPrefixes = { video: "vt", image: "im", text: "tx" } as const

export type OrderKind = keyof typeof orderPrefixes

const UUID_V7 = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"
const orderId = new RegExp(`^(?:${Object.values(orderPrefixes).join("|")})_${UUID_V7}$`)
const taskKinds = ["video", "image"] as const
/** Orders that may run after their client was answered. */
export type TaskKind = (typeof taskKinds)[number]

const taskIds = {
  video: new RegExp(`^${orderPrefixes.video}_${UUID_V7}$`),
  image: new RegExp(`^${orderPrefixes.image}_${UUID_V7}$`)
} satisfies Record<TaskKind, RegExp>

/** True for text that can be the id of an order. */
export const isOrderId = (text: string): boolean => orderId.test(text)

/** What a text that can be the id of a task is of; null for any other. */
export const taskKindOf = (text: string): TaskKind | null =>
  taskKinds.find((kind) => taskIds[kind].test(text)) ?? null

/** When an id was minted, in milliseconds since 1970. */
export const mintedAt = (id: string): number => {
  const uuid = id.slice(id.indexOf("_") + 1)
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16)
}

/** How the UUIDs of that millisecond begin: no earlier one is greater, and no later one less. */
export const uuidBeginning = (at: Date): string => {
  const hex = Math.max(0, at.getTime()).toString(16).padStart(12, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}
