/** JSON for a client in bytes: a vendor's as it came, whose megabytes are not decoded, or written before. */
export class RawAnswer {
  /** Bytes of the whole. */
  readonly bytes: number
  /** In the pieces they came in. */
  readonly chunks: ReadonlyArray<Uint8Array>
  /** Says that it has left, so that others may take its room in memory. May be called again. */
  readonly release: () => void

  /** Whether its bytes count in the budget of answers until it is let go. */
  readonly isCounted: boolean

  constructor(chunks: ReadonlyArray<Uint8Array>, release?: () => void) {
    this.chunks = chunks
    this.isCounted = release !== undefined
    this.bytes = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0)
    this.release = release ?? (() => undefined)
  }
}

/** Writes an answer before it is paid for: nothing may fail between the charge and the client. */
export const encodeAnswer = (body: Readonly<Record<string, unknown>>): RawAnswer =>
  new RawAnswer([Buffer.from(JSON.stringify(body))])
