/** The image protocols. */

/** What one protocol offers; a new vendor begins with such a row. */
export interface ImageProtocolRow {
  /** How the upstream models begin whose vendor also gets the fields the gateway does not know. */
  readonly passesOn: ReadonlyArray<string>
}

/** How the relay's models begin that take images in the common standard form. */
export const RELAYED_STANDARD_MODELS = "doubao"

export const imageProtocols = {
  ip_a: { passesOn: [""] },
  ip_b: { passesOn: [] },
  ip_c: { passesOn: [RELAYED_STANDARD_MODELS] }
} as const satisfies Record<string, ImageProtocolRow>

export type ImageProtocol = keyof typeof imageProtocols

/** Whether the vendor of the upstream model also gets the fields the gateway does not know. */
export const passesOn = ({ passesOn }: ImageProtocolRow, upstreamModel: string): boolean =>
  passesOn.some((beginning) => upstreamModel.startsWith(beginning))

/** Number of images a request may ask for. */
export const MIN_IMAGES = 1
export const MAX_IMAGES = 10
export const DEFAULT_IMAGES = 1
