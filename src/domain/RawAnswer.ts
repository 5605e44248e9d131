/** JSON for a client in bytes: a vendor's large answer, which is not decoded, or an encoded one. */
export class RawAnswer {
  /** Length of the whole answer in bytes. */
  readonly bytes: number
  /** The answer in the pieces in which it arrived. */
  readonly chunks: ReadonlyArray<Uint8Array>
  /** Returns its bytes to the memory budget after it was sent. May be called again. */
  readonly release: () => void

  /** Whether its bytes count in the budget of answers until it is released. */
  readonly isCounted: boolean

  constructor(chunks: ReadonlyArray<Uint8Array>, release?: () => void) {
    this.chunks = chunks
    this.isCounted = release !== undefined
    this.bytes = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0)
    this.release = release ?? (() => undefined)
  }
}

/** Encodes an answer before it is charged: nothing may fail between the charge and the client. */
export const encodeAnswer = (body: Readonly<Record<string, unknown>>): RawAnswer =>
  new RawAnswer([Buffer.from(JSON.stringify(body))])
