export const JSON_TYPE = "application/json"

/**
 * A response body: a large vendor answer that is not decoded, as bytes; an encoded value; or a
 * product that is not JSON, such as a sound.
 */
export class RawAnswer {
  /** The length of the whole answer in bytes. */
  readonly bytes: number
  /** The whole answer as text, where it is short and was encoded here; else null. */
  readonly text: string | null
  /**
   * Returns the bytes of the answer to the memory budget after sending. Repeated calls have no
   * effect.
   */
  readonly release: () => void

  /** Whether the answer's bytes count in the memory budget of answers until `release`. */
  readonly isCounted: boolean

  /** The content type, which is JSON unless the answer is another kind of product. */
  readonly contentType: string

  readonly #body: ReadonlyArray<Uint8Array> | string

  constructor(
    body: ReadonlyArray<Uint8Array> | string,
    release?: () => void,
    contentType = JSON_TYPE
  ) {
    const isText = typeof body === "string"
    this.#body = body
    this.contentType = contentType
    this.isCounted = release !== undefined
    this.text = isText ? body : null
    this.bytes = isText
      ? Buffer.byteLength(body)
      : body.reduce((sum, chunk) => sum + chunk.byteLength, 0)
    this.release = release ?? (() => undefined)
  }

  /** The chunks of the answer, as they arrived. */
  get chunks(): ReadonlyArray<Uint8Array> {
    return typeof this.#body === "string" ? [Buffer.from(this.#body)] : this.#body
  }
}

/**
 * The maximum length of a text that is not converted to bytes: Node writes a text together with the
 * head of its answer, which is cheaper. A longer text may take twice the memory of its bytes.
 */
const MAX_TEXT_LENGTH = 16 * 1024

/** Encodes an answer before the charge: nothing may fail between the charge and the response. */
export const encodeAnswer = (body: Readonly<Record<string, unknown>>): RawAnswer => {
  const text = JSON.stringify(body)
  return new RawAnswer(text.length <= MAX_TEXT_LENGTH ? text : [Buffer.from(text)])
}
