/**
 * Links to files of tasks that open without a key for some hours, for players and pages. A link names
 * the members on whose behalf it was made, and whoever opens it asks how they stand.
 */
import { createHmac, timingSafeEqual } from "node:crypto"
import { Clock, Context, Effect, Layer, type Redacted } from "effect"
import type { TaskKind } from "../../domain/orderIds.ts"
import { deriveKey } from "../derivedKeys.ts"

export interface LinkOwners {
  readonly organizationId: string
  /** The member who ordered the file, and the member who asked for the link. */
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
    /** The owners of the file that the token opens; null where it is invalid or has expired. */
    verify(token: string, file: Pick<LinkedFile, "id" | "n">): Effect.Effect<LinkOwners | null>
  }
>()("gateway/services/ContentLinks") {}

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
    const current = deriveKey(masterKey, "content links")
    const keys = previous === null ? [current] : [current, deriveKey(previous, "content links")]
    return ContentLinks.of({
      path: (kind, file, nowMillis) => {
        const end = Math.floor(nowMillis / 1000) + LIFE_SECONDS
        const mac = macOf(current, file, end).toString("base64url")
        const place = kind === "image" ? `/${file.n}` : ""
        return `/v1/${kind}s/${file.id}/content${place}?token=${end}.${file.organizationId}.${file.members.join(SEPARATOR)}.${mac}`
      },
      verify: (token, { id, n }) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const [, ends = "", organizationId = "", owners = "", signature = ""] =
            TOKEN.exec(token) ?? []
          const end = Number(ends)
          const members = owners.split(SEPARATOR)
          const mac = Buffer.from(signature, "base64url")
          const isSigned = keys.some((key) => {
            const expected = macOf(key, { organizationId, members, id, n }, end)
            return expected.length === mac.length && timingSafeEqual(expected, mac)
          })
          return isSigned && end * 1000 > now ? { organizationId, members } : null
        })
    })
  })
