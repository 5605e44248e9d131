/**
 * A JSON response body as bytes: either a large vendor answer that is not decoded, or an encoded
 * value.
 */
export class RawAnswer {
  /** The length of the whole answer in bytes. */
  readonly bytes: number
  /** The chunks of the answer, as they arrived. */
  readonly chunks: ReadonlyArray<Uint8Array>
  /**
   * Returns the bytes of the answer to the memory budget after sending. Repeated calls have no
   * effect.
   */
  readonly release: () => void

  /** Whether the answer's bytes count in the memory budget of answers until `release`. */
  readonly isCounted: boolean

  constructor(chunks: ReadonlyArray<Uint8Array>, release?: () => void) {
    this.chunks = chunks
    this.isCounted = release !== undefined
    this.bytes = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0)
    this.release = release ?? (() => undefined)
  }
}

/** Encodes an answer before the charge: nothing may fail between the charge and the response. */
export const encodeAnswer = (body: Readonly<Record<string, unknown>>): RawAnswer =>
  new RawAnswer([Buffer.from(JSON.stringify(body))])
