/** A vendor's JSON for the client as it came: text of megabytes is neither decoded nor written anew. */
export class PassedAnswer {
  /** Bytes of the whole. */
  readonly bytes: number
  /** In the pieces they came in. */
  readonly chunks: ReadonlyArray<Uint8Array>

  constructor(chunks: ReadonlyArray<Uint8Array>) {
    this.chunks = chunks
    this.bytes = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0)
  }
}
