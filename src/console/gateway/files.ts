/** What the gateway answers as a file: read with the session's bearer, shown or saved from memory. */
import { errorTable } from "../../domain/Errors.ts"
import type { Session } from "./session.ts"

const bearerOf = ({ apiKey, operator }: Session, path: string): string =>
  (path.startsWith("/admin/") || path === "/metrics" ? operator?.token : apiKey) ?? ""

const isKnown = (code: unknown): code is keyof typeof errorTable =>
  typeof code === "string" && code in errorTable

/** No answer came. */
export class Unreachable extends Error {
  readonly _tag = "HttpClientError"
}

const hasCode = (error: unknown): error is { readonly code: unknown } =>
  typeof error === "object" && error !== null && "code" in error

/** What the body of an error says, in the typed client's form, so that `failureOf` reads either. */
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

/** A request to this gateway with the bearer that its path asks for. */
export const request = async (
  session: Session,
  path: string,
  init: RequestInit = {}
): Promise<Response> => {
  const response = await fetch(path, {
    ...init,
    headers: {
      authorization: `Bearer ${bearerOf(session, path)}`,
      ...Object.fromEntries(new Headers(init.headers))
    }
  }).catch((cause: unknown) => {
    // A request that was taken back is no trouble of the connection.
    if (init.signal?.aborted) throw cause
    throw new Unreachable(String(cause))
  })
  if (response.ok) return response
  throw await refusalOf(response)
}

/** Saves bytes under a name, as a link to a file does. */
export const save = (blob: Blob, name: string): void => {
  const address = URL.createObjectURL(blob)
  const link = document.createElement("a")
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address))
}
