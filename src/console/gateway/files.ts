/** What the gateway answers as a file: read with the session's bearer, shown or saved from memory. */
import { errorTable } from "../../domain/Errors.ts"
import type { Failure } from "./failures.ts"
import type { Session } from "./session.ts"

const bearerOf = ({ apiKey, operator }: Session, path: string): string =>
  (path.startsWith("/admin/") || path === "/metrics" ? operator?.token : apiKey) ?? ""

const isKnown = (code: unknown): code is keyof typeof errorTable =>
  typeof code === "string" && code in errorTable

/** Throws like the typed client does, so that `failureOf` reads either. */
const refusalOf = async (response: Response): Promise<unknown> => {
  const body: unknown = await response.json().catch(() => null)
  const error =
    typeof body === "object" && body !== null && "error" in body ? body.error : undefined
  if (typeof error === "object" && error !== null && "code" in error && isKnown(error.code)) {
    return { param: null, message: "", ...error, _tag: error.code }
  }
  return new Error(`The gateway answered ${response.status}`)
}
export type Refusal = Failure

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
