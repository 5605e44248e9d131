/** A vendor's JSON for the client as it came: text of megabytes is neither decoded nor written anew. */
export class PassedAnswer {
  /** Bytes of the whole. */
  readonly bytes: number
  /** In the pieces they came in. */
  readonly chunks: ReadonlyArray<Uint8Array>
  /** Says that it has left, so that others may take its room in memory. May be called again. */
  readonly letGo: () => void

  constructor(chunks: ReadonlyArray<Uint8Array>, letGo: () => void = () => undefined) {
    this.chunks = chunks
    this.bytes = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0)
    this.letGo = letGo
  }
}
