/** What every model of the simulated fal has: its input, and the facts that the record has of it. */
import { Effect, Schema } from "effect"
import type { Order } from "../../Book.ts"

const optional = Schema.optionalKey

export const wholeNumber = (minimum: number, maximum: number) =>
  optional(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

/** An address or a data URL, which the vendor's runner fetches. */
export const File = Schema.String.check(Schema.isPattern(/^(?:https?:\/\/\S|data:[^;,]+;base64,.)/))

/** The facts of an order, as the vendor's record has them. */
export interface OrderFacts {
  readonly prompt: string
  readonly order: Omit<Order, "prompt_sha256">
}

export const noFacts: Omit<Order, "prompt_sha256"> = {
  seconds: null,
  resolution: null,
  ratio: null,
  n: null,
  size: null,
  inputs: { images: 0, videos: 0, audios: 0 },
  generate_audio: null
}

export interface FalModel {
  readonly id: string
  readonly kind: "video" | "image"
  /** The field of the result that has the files. */
  readonly result: "video" | "images" | "image"
  readonly decode: (input: unknown) => Effect.Effect<OrderFacts, Schema.SchemaError>
}

export const modelOf = <A, I>(
  schema: Schema.Codec<A, I>,
  factsOf: (input: A) => OrderFacts,
  model: Omit<FalModel, "decode">
): FalModel => {
  const decode = Schema.decodeUnknownEffect(schema)
  return { ...model, decode: (input) => Effect.map(decode(input), factsOf) }
}
