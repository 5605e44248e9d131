/** The protocols of chat, image understanding and embedding models. */

/** What one protocol offers; a new vendor begins with such a row. */
export interface TextProtocolRow {
  /** False: the protocol has no embeddings. */
  readonly embeddings: boolean
}

export const textProtocols = {
  openai: { embeddings: true }
} as const satisfies Record<string, TextProtocolRow>

export type TextProtocol = keyof typeof textProtocols
