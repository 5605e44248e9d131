/**
 * Links to files of tasks that open without a key for some hours, for players and pages. A link names
 * the members on whose behalf it was made, and whoever opens it asks how they stand.
 */
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto"
import { Clock, Context, Effect, Layer, Redacted } from "effect"
import type { TaskKind } from "../../domain/orderIds.ts"

export interface LinkOwners {
  readonly organizationId: string
  /** The one who ordered the file, and the one whom the link was told. */
  readonly members: ReadonlyArray<string>
}

export interface LinkedFile extends LinkOwners {
  readonly id: string
  /** Its place among the task's files. */
  readonly n: number
}

const LIFE_SECONDS = 24 * 3600
const TOKEN = /^(\d{1,12})\.([\w-]{1,100})\.([\w~-]{1,200})\.([\w-]{43})$/
/** Between members; ids have none. */
const SEPARATOR = "~"

export class ContentLinks extends Context.Service<
  ContentLinks,
  {
    /** The file's path with a token that opens it for a day. */
    path(kind: TaskKind, file: LinkedFile, nowMillis: number): string
    /** Whose file it opens; null for a token that does not, or does no longer. */
    verify(token: string, file: Pick<LinkedFile, "id" | "n">): Effect.Effect<LinkOwners | null>
  }
>()("gateway/services/ContentLinks") {}

const keyOf = (masterKey: Redacted.Redacted<Uint8Array>): Uint8Array =>
  new Uint8Array(
    hkdfSync("sha256", Redacted.value(masterKey), "media-gateway", "content links", 32)
  )

const macOf = (
  key: Uint8Array,
  { organizationId, members, id, n }: LinkedFile,
  end: number
): Buffer =>
  createHmac("sha256", key)
    .update(JSON.stringify([organizationId, members, id, n, end]))
    .digest()

/** Links that the previous master key has signed open until their end. */
export const layerContentLinks = (
  masterKey: Redacted.Redacted<Uint8Array>,
  previous: Redacted.Redacted<Uint8Array> | null = null
) =>
  Layer.sync(ContentLinks, () => {
    const current = keyOf(masterKey)
    const keys = previous === null ? [current] : [current, keyOf(previous)]
    return ContentLinks.of({
      path: (kind, file, nowMillis) => {
        const end = Math.floor(nowMillis / 1000) + LIFE_SECONDS
        const mac = macOf(current, file, end).toString("base64url")
        const place = kind === "image" ? `/${file.n}` : ""
        return `/v1/${kind}s/${file.id}/content${place}?token=${end}.${file.organizationId}.${file.members.join(SEPARATOR)}.${mac}`
      },
      verify: (token, { id, n }) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const [, ends = "", organizationId = "", owners = "", given = ""] =
            TOKEN.exec(token) ?? []
          const end = Number(ends)
          const members = owners.split(SEPARATOR)
          const mac = Buffer.from(given, "base64url")
          const isTrue = keys.some((key) => {
            const own = macOf(key, { organizationId, members, id, n }, end)
            return own.length === mac.length && timingSafeEqual(own, mac)
          })
          return isTrue && end * 1000 > now ? { organizationId, members } : null
        })
    })
  })
