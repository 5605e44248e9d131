/**
 * Answers with images in base64 and texts that models wrote, kept in memory for repeats of their
 * request: the database takes neither.
 */

import { RawAnswer } from "../domain/RawAnswer.ts"
import { holdsLongText } from "../hiding/patterns.ts"
import { makeBoundedMap } from "../runtime/boundedMap.ts"
import type { AnswerBody, RequestKey } from "./IdempotencyKeys.ts"
import type { ImageResult } from "./ProtocolAdapter.ts"

const ROOM_BYTES = 64 * 1024 * 1024
const BYTES_PER_NUMBER = 8
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** True when an answer carries images themselves, not only their addresses. */
export const carriesImages = (result: Exclude<ImageResult, RawAnswer>): boolean =>
  (Array.isArray(result.data) &&
    result.data.some((entry: unknown) => isRecord(entry) && typeof entry.b64_json === "string")) ||
  holdsLongText(result)

const bytesOf = (value: unknown): number => {
  if (value instanceof RawAnswer) return value.bytes
  if (typeof value === "string") return value.length
  if (typeof value === "number") return BYTES_PER_NUMBER
  return typeof value === "object" && value !== null
    ? Object.values(value).reduce((sum: number, inner) => sum + bytesOf(inner), 0)
    : 0
}

export const makeRecentAnswers = (roomBytes = ROOM_BYTES) => {
  const kept = makeBoundedMap(
    roomBytes,
    ({ result }: { readonly fingerprint: string; readonly result: AnswerBody }) => bytesOf(result)
  )
  const nameOf = (organizationId: string, { key }: RequestKey) => `${organizationId} ${key}`
  return {
    keep: (organizationId: string, key: RequestKey, result: AnswerBody): void =>
      kept.set(nameOf(organizationId, key), { fingerprint: key.fingerprint, result }),
    /** Null also where the key stood for another request when an answer was last kept for it. */
    find: (organizationId: string, key: RequestKey): AnswerBody | null => {
      const last = kept.get(nameOf(organizationId, key))
      return last?.fingerprint === key.fingerprint ? last.result : null
    }
  }
}
