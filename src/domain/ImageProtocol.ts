/** The image protocols ("Image protocols"). */

/** What one protocol offers; a new vendor begins with such a row. */
export interface ImageProtocolRow {
  /** False: the protocol answers addresses only, whatever `response_format` asks for. */
  readonly base64: boolean
}

export const imageProtocols = {
  ip_a: { base64: true },
  ip_b: { base64: false },
  ip_c: { base64: false }
} as const satisfies Record<string, ImageProtocolRow>

export type ImageProtocol = keyof typeof imageProtocols

/** Number of images a request may ask for ("Limits"). */
export const MIN_IMAGES = 1
export const MAX_IMAGES = 10
export const DEFAULT_IMAGES = 1
