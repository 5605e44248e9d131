/** What of a vendor's refusal is kept for repeats of the request. */
import { UpstreamError } from "../domain/Errors.ts"
import { holdsLongText } from "../hiding/patterns.ts"
import { withoutEchoes } from "../hiding/promptsFromRecords.ts"

/** What a vendor had written of an answer nobody could read is kept nowhere. */
export const withoutBody = (error: UpstreamError, message = error.message): UpstreamError =>
  new UpstreamError({
    message,
    status: error.status,
    upstream: { status: error.upstream.status, body: null },
    retryable: error.retryable,
    retryAfterSeconds: error.retryAfterSeconds
  })

/** A vendor may answer with what it was sent; images are not kept, also not in an error. */
export const withoutMedia = (error: UpstreamError): UpstreamError => {
  const { message, upstream } = error
  if (!holdsLongText([upstream.body, message])) return error
  return withoutBody(error, holdsLongText(message) ? withoutEchoes(message, []) : message)
}
