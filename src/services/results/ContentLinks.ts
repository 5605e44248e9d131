/**
 * Signed links to files of tasks, which players and web pages can open without an API key for a
 * day. A link contains the ids of the members it was made for. `verify` returns these members, and
 * its caller checks that they are enabled.
 */
import { createHmac } from "node:crypto"
import { Clock, Context, Effect, Layer, type Redacted } from "effect"
import { Mac } from "effect/crypto"
import { type TaskKind, taskPaths } from "../../domain/orderIds.ts"
import { deriveKey } from "../derivedKeys.ts"

interface LinkOwners {
  readonly organizationId: string
  /** The member who ordered the file, and the member to whom the link was returned. */
  readonly members: ReadonlyArray<string>
}

interface LinkedFile extends LinkOwners {
  readonly id: string
  /** The index of the file among the task's files, counted from 0. */
  readonly n: number
}

const LIFETIME_SECONDS = 24 * 3600
const TOKEN = /^(\d{1,12})\.([\w-]{1,100})\.([\w~-]{1,200})\.([\w-]{43})$/
/** The delimiter of the members' ids; no id contains it. */
const SEPARATOR = "~"

export class ContentLinks extends Context.Service<
  ContentLinks,
  {
    /** The path of the file, with a token that opens it for a day from `nowMillis`. */
    path(kind: TaskKind, file: LinkedFile, nowMillis: number): string
    /**
     * The owners of the file that the token opens; null for a token that is forged, expired, or
     * made for another file.
     */
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

/** Links that were signed under the previous master key stay valid until they expire. */
export const layerContentLinks = (
  masterKey: Redacted.Redacted<Uint8Array>,
  previous: Redacted.Redacted<Uint8Array> | null = null
) =>
  Layer.sync(ContentLinks, () => {
    const current = deriveKey(masterKey, "content links")
    const keys = previous === null ? [current] : [current, deriveKey(previous, "content links")]
    return ContentLinks.of({
      path: (kind, file, nowMillis) => {
        const end = Math.floor(nowMillis / 1000) + LIFETIME_SECONDS
        const mac = macOf(current, file, end).toString("base64url")
        const number = kind === "image" ? `/${file.n}` : ""
        return `${taskPaths[kind]}/${file.id}/content${number}?token=${end}.${file.organizationId}.${file.members.join(SEPARATOR)}.${mac}`
      },
      verify: (token, { id, n }) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const [, endText = "", organizationId = "", memberIds = "", signature = ""] =
            TOKEN.exec(token) ?? []
          const end = Number(endText)
          const members = memberIds.split(SEPARATOR)
          const mac = Buffer.from(signature, "base64url")
          const isSigned = keys.some((key) =>
            Mac.timingSafeEqual(macOf(key, { organizationId, members, id, n }, end), mac)
          )
          return isSigned && end * 1000 > now ? { organizationId, members } : null
        })
    })
  })
