/**
 * Loads result files. The results are charged already, so a failed download is reported in a way
 * that never leads to a second order.
 */
import {
  DownloadError,
  delay,
  downloadBlob,
  isAbortError,
  readResponseWithSizeLimit
} from "@ai-sdk/provider-utils"
import type { Connection } from "./connection.ts"

const TRIES = 3
const PAUSE_MS = 500
/**
 * The maximum size of a file at a trusted address. For other files the AI SDK's own limit applies.
 */
const MAX_BYTES = 2 * 1024 ** 3

export interface ResultFile {
  readonly data: Uint8Array
  readonly mediaType: string | undefined
}

const fromTrusted = async (
  { fileFetch }: Connection,
  url: string,
  signal?: AbortSignal
): Promise<ResultFile> => {
  // Redirects are refused: a redirect could lead to a private address that is not trusted.
  const response = await fileFetch(url, { redirect: "error", ...(signal ? { signal } : {}) })
  if (!response.ok) {
    await response.body?.cancel()
    throw new DownloadError({
      url,
      statusCode: response.status,
      statusText: response.statusText
    })
  }
  const data = await readResponseWithSizeLimit({ response, url, maxBytes: MAX_BYTES })
  return { data, mediaType: response.headers.get("content-type") ?? undefined }
}

const fromAnywhere = async (
  { fileFetch }: Connection,
  url: string,
  signal?: AbortSignal
): Promise<ResultFile> => {
  const blob = await downloadBlob(url, {
    fetch: fileFetch,
    ...(signal ? { abortSignal: signal } : {})
  })
  return { data: new Uint8Array(await blob.arrayBuffer()), mediaType: blob.type || undefined }
}

const isTransient = (error: unknown): boolean =>
  !DownloadError.isInstance(error) ||
  (error.statusCode === undefined ? error.cause !== undefined : error.statusCode >= 500)

const downloadErrorOf = (url: string, error: unknown): Error =>
  DownloadError.isInstance(error) ? error : new DownloadError({ url, cause: error })

/**
 * Loads a file, with retries of transient faults. Fails with a `DownloadError`, which the AI SDK
 * does not retry.
 */
export const loadFile = async (
  connection: Connection,
  url: string,
  signal?: AbortSignal
): Promise<ResultFile> => {
  const load = connection.trusts(url) ? fromTrusted : fromAnywhere
  const pauseOptions = signal ? { abortSignal: signal } : {}
  for (let triesLeft = TRIES - 1; ; triesLeft -= 1) {
    try {
      return await load(connection, url, signal)
    } catch (error) {
      if (signal?.aborted === true || isAbortError(error)) throw error
      if (triesLeft === 0 || !isTransient(error)) throw downloadErrorOf(url, error)
      await delay(PAUSE_MS, pauseOptions)
    }
  }
}
