/**
 * Requests outside the typed client, such as files: sent with the session's key or token, then
 * shown or saved from memory.
 */
import { errorTable } from "../../domain/Errors.ts"
import { requireNetwork } from "./network.ts"
import { isCookie, type Session } from "./session.ts"

const bearerOf = ({ apiKey, operator }: Session, path: string): string =>
  (path.startsWith("/admin/") || path === "/metrics" ? operator?.token : apiKey) ?? ""

/**
 * The headers by which a request is authenticated. The browser adds the cookie of a person by
 * itself, and a header beside it would decide alone.
 */
export const authenticationOf = (
  { person }: Session,
  bearer: string
): Readonly<Record<string, string>> => {
  const isPerson = isCookie(bearer) || bearer === ""
  if (person != null && isPerson) return { "x-csrf-token": person.csrfToken }
  return { authorization: `Bearer ${bearer}` }
}

const isKnown = (code: unknown): code is keyof typeof errorTable =>
  typeof code === "string" && code in errorTable

/** The failure of a request without a response. */
export class Unreachable extends Error {
  readonly _tag = "HttpClientError"
}

const hasCode = (error: unknown): error is { readonly code: unknown } =>
  typeof error === "object" && error !== null && "code" in error

/** The error in a response body in the form of the typed client, so that `failureOf` reads both. */
export const refusalIn = (body: unknown): unknown => {
  const error =
    typeof body === "object" && body !== null && "error" in body ? body.error : undefined
  if (!hasCode(error) || !isKnown(error.code)) return new Error("The answer could not be read")
  const wait = "retry_after" in error ? { retryAfterSeconds: error.retry_after } : {}
  return { param: null, message: "", ...error, ...wait, _tag: error.code }
}

const refusalOf = async (response: Response): Promise<unknown> => {
  const refusal = refusalIn(await response.json().catch(() => null))
  return refusal instanceof Error ? new Error(`The gateway answered ${response.status}`) : refusal
}

/** Sends a request to this gateway with the key or token that its path needs. */
export const request = async (
  session: Session,
  path: string,
  init: RequestInit = {}
): Promise<Response> => {
  requireNetwork()
  const response = await fetch(path, {
    ...init,
    headers: {
      ...authenticationOf(session, bearerOf(session, path)),
      ...Object.fromEntries(new Headers(init.headers))
    }
  }).catch((cause: unknown) => {
    // An aborted request is no failure of the connection.
    if (init.signal?.aborted) throw cause
    throw new Unreachable(String(cause))
  })
  if (response.ok) return response
  throw await refusalOf(response)
}

/** Saves bytes as a file with a name, as a click on a download link does. */
export const save = (blob: Blob, name: string): void => {
  const address = URL.createObjectURL(blob)
  const link = document.createElement("a")
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address))
}
