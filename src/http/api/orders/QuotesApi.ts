import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { anyFields } from "../../../domain/requestFields.ts"
import { PriceTier } from "../../../domain/video/tiers.ts"
import { InputMode } from "../../../domain/video/videoFacts.ts"
import { bodyErrors, errors, upstreamErrorAt } from "../apiErrors.ts"
import { operation } from "../document.ts"
import { BodyLimit, DecodesBody, FreeCall, RequiredScope } from "../middlewares.ts"
import {
  constant,
  decimal,
  decimalOrNull,
  flag,
  integer,
  nullable,
  oneOf,
  QueueView,
  text
} from "../shared.ts"

/**
 * The body of an ordering route. The model's modality determines the route, and the handler decodes
 * the body as that route does.
 */
export const QuoteBody = Schema.StructWithRest(
  Schema.Struct({
    model: Schema.NonEmptyString.annotate({
      description: "The model; its modality decides how the other fields are read",
      examples: ["film-1"]
    })
  }),
  anyFields
).annotate({
  description:
    "The body of an order, as it would be sent to order it; at most 1 MiB, with addresses in place of " +
    "inline media. A transcription is quoted with `seconds`, the length of its sound, in place of the file"
})

const Affordable = Schema.Struct({
  pool: flag(
    "Whether the organisation's pool allows the hold at this moment, beside the most that open orders can cost",
    true
  ),
  pool_available: decimal(
    "The available balance of the pool, as a decimal string; may be negative"
  ),
  cap: flag("Whether the member's monthly cap allows the hold; true without a cap", true),
  cap_available: decimalOrNull(
    "The rest of the member's cap this month; null without a cap",
    "45.032"
  ),
  budget: flag("Whether every other budget of the order allows the hold", true),
  budget_available: decimalOrNull("The rest of the tightest of them; null where there is none")
}).annotate({ description: "Whether the order would be accepted now; other orders may come first" })

// Receipts also have `currency` and `formula`, and the tier and the inputs below.
export const currency = text("Currency of every amount", "CNY")
export const formula = text(
  "The calculation of the hold, in one line",
  "(0 + 5) s x 21600 tokens/s x 0.000046 = 4.968"
)

const common = {
  object: constant("quote", "Always `quote`"),
  model: text("The id of the quoted model, also where it was named by an alias", "film-1"),
  modality: oneOf(
    ["video", "image", "chat", "vlm", "embedding", "rerank", "tts", "asr"],
    "The model's modality",
    "video"
  ),
  currency,
  hold: decimal("The amount that is held before the vendor is called", "4.968"),
  capped: Schema.optionalKey(
    flag(
      "Always true: the order is never charged above its hold, which is the most that it can cost. Orders of a key with a budget of its own are"
    )
  ),
  exposure: Schema.optionalKey(
    decimal(
      "The most the order can cost, where that is more than the hold: while it is open, the pool refuses orders for which this leaves no money",
      "12.096"
    )
  ),
  exposure_reason: Schema.optionalKey(
    text(
      "Why it can cost more than the hold",
      "The length of a reference video is not known before the vendor has it: the hold is for the least it is taken to be, and the exposure for the most the model takes."
    )
  ),
  expected_charge: decimal(
    "What the order is expected to cost: exact for seconds, images, characters and searches, and for tokens the formula, which the vendor's own count replaces",
    "4.968"
  ),
  unit_price: decimal(
    "Currency units per `unit`, exact; of text, per output token, and of embeddings and rankings per input token",
    "0.000046"
  ),
  formula,
  affordable: Affordable
}

const resolution = text("The resolution that is billed", "720p")

export const TokenVideoInputs = Schema.Struct({
  input_seconds: integer(
    "Seconds of reference video that are billed: of those that came inline and can be read (MP4, QuickTime, WebM), at least 4 in all; addresses are not fetched, so what they lead to is not counted beyond the 4; 0 without a reference video",
    0
  ),
  output_seconds: integer("Seconds that are prepaid; 15 where the model chooses the length", 5),
  tokens_per_second: integer("Tokens the formula counts for a second of this resolution", 21600),
  estimated_tokens: integer("Tokens that are held", 108000),
  with_video: flag("Whether a reference video puts the whole order on the with-video price", false),
  smart: flag("Whether the model chooses the length (duration -1)", false)
})

export const SecondVideoInputs = Schema.Struct({
  seconds: integer("Output seconds ordered", 5)
})

export const ReferenceSurcharge = Schema.optionalKey(
  Schema.Struct({
    references: integer("Reference images of the order", 7),
    beyond: integer("How many of them are free of the surcharge", 5),
    unit_price: decimal("Currency units for each further one, exact", "0.1")
  }).annotate({
    description:
      "The surcharge for reference images, which the hold includes; absent where the price has none"
  })
)

export const TableVideoInputs = Schema.Struct({
  units: integer("Units that are held: seconds, tokens, or 1 for a video billed as a whole", 5),
  sound: nullable(
    Schema.Boolean,
    "Whether the video has sound; null where the model decides, and the higher price is held"
  ),
  with_video: flag("Whether the order has a reference video", false),
  mode: InputMode.annotate({
    description: "What the video is made from",
    examples: ["text"]
  }),
  reference_surcharge: ReferenceSurcharge,
  input_seconds: integer("Seconds of reference video; the most there can be if unknown", 0),
  output_seconds: integer("Output seconds ordered, or held where the model chooses", 5),
  smart: flag("Whether the model chooses the length (duration -1)", false)
})

export const ImageInputs = Schema.Struct({
  images: integer("Images ordered (`n`); the number that comes back changes nothing", 1),
  quality: Schema.optionalKey(text("Where prices are a table: the quality that is billed", "high")),
  size: Schema.optionalKey(text("Where prices are a table: the size that is billed", "1024x1024")),
  edit: Schema.optionalKey(flag("Where prices depend on it: whether an edit is billed", false))
})

export const ImageTokenInputs = Schema.Struct({
  ...ImageInputs.fields,
  text_tokens: integer("Text tokens that are held for, by the size of the text", 12),
  image_tokens: integer("Tokens of input images that are held for", 0),
  output_tokens: integer("The most output tokens of all images", 6240)
})

export const TextInputs = Schema.Struct({
  input_tokens: integer("Input tokens that are held for, by the size of what is sent", 12),
  output_tokens: integer(
    "Output tokens that are held for: what the request allows; 0 for embeddings",
    4096
  )
})

export const CharacterInputs = Schema.Struct({
  characters: integer("Characters of the text, as the price counts them", 4000)
})

export const AudioInputs = Schema.Struct({
  seconds: integer("Seconds that are held for", 13),
  milliseconds: integer("The measured length of the sound", 12_480),
  step_seconds: integer("The seconds to a multiple of which the length is rounded up", 1),
  minimum_seconds: integer("The least seconds that are billed", 1)
})

export const SearchInputs = Schema.Struct({
  searches: integer("Searches that are billed", 1),
  documents: integer("Documents of the order", 20),
  documents_per_search: integer("The most documents of one search", 100)
})

export const tier = PriceTier.annotate({
  description: "The price row used; a resolution without a price of its own takes `base`",
  examples: ["base"]
})

const queueOfOrder = nullable(
  QueueView,
  "The place in the queue that the order would have now with `max_wait`; null where it is submitted at once"
)

const usualSeconds = nullable(
  Schema.Finite,
  "Seconds that videos of this model, length and resolution usually take: the median of the latest; null where none is known"
)

const partPrice = (tokens: string) =>
  Schema.optionalKey(
    decimal(
      `Currency units per ${tokens} token, exact; absent without a price of its own`,
      "0.0000005"
    )
  )
const partPrices = {
  cached_input_unit_price: partPrice("cached input"),
  audio_input_unit_price: partPrice("audio input"),
  audio_output_unit_price: partPrice("audio output")
}

const UNIT = "The unit of billing"
const INPUTS = "The inputs of the calculation of the hold"

/** A union of one shape for each kind of billing, discriminated by `kind`. */
export const QuoteView = Schema.Union([
  Schema.Struct({
    ...common,
    kind: constant("token_video", "Billed by tokens"),
    unit: constant("token", UNIT),
    resolution,
    tier,
    usual_seconds: usualSeconds,
    queue: queueOfOrder,
    inputs: TokenVideoInputs.annotate({ description: INPUTS })
  }),
  Schema.Struct({
    ...common,
    kind: constant("second_video", "Billed by output seconds"),
    unit: constant("second", UNIT),
    resolution,
    usual_seconds: usualSeconds,
    queue: queueOfOrder,
    inputs: SecondVideoInputs.annotate({ description: INPUTS })
  }),
  Schema.Struct({
    ...common,
    kind: constant("video_table", "Billed by a price table over facts of the order"),
    unit: oneOf(["second", "clip", "token"], UNIT),
    resolution,
    usual_seconds: usualSeconds,
    queue: queueOfOrder,
    inputs: TableVideoInputs.annotate({ description: INPUTS })
  }),
  Schema.Struct({
    ...common,
    kind: constant("image", "Billed by images"),
    unit: constant("image", UNIT),
    inputs: ImageInputs.annotate({ description: INPUTS })
  }),
  Schema.Struct({
    ...common,
    kind: constant("image_tokens", "Images, billed by tokens"),
    unit: constant("token", UNIT),
    input_unit_price: decimal("Currency units per text token, exact", "0.000005"),
    image_input_unit_price: decimal("Currency units per token of an input image", "0.00001"),
    cached_input_unit_price: partPrices.cached_input_unit_price,
    inputs: ImageTokenInputs.annotate({ description: INPUTS })
  }),
  Schema.Struct({
    ...common,
    kind: constant("tokens", "Text, billed by input and output tokens"),
    unit: constant("token", UNIT),
    input_unit_price: decimal("Currency units per input token, exact", "0.000002"),
    ...partPrices,
    inputs: TextInputs.annotate({ description: INPUTS })
  }),
  Schema.Struct({
    ...common,
    kind: constant("characters", "Speech, billed by the characters of its text"),
    unit: constant("character", UNIT),
    inputs: CharacterInputs.annotate({ description: INPUTS })
  }),
  Schema.Struct({
    ...common,
    kind: constant("audio_seconds", "A transcription, billed by the length of the sound"),
    unit: constant("second", UNIT),
    inputs: AudioInputs.annotate({ description: INPUTS })
  }),
  Schema.Struct({
    ...common,
    kind: constant("searches", "A ranking, billed by searches"),
    unit: constant("search", UNIT),
    inputs: SearchInputs.annotate({ description: INPUTS })
  })
])
export type QuoteView = typeof QuoteView.Type

/** A quote moves no money and calls no vendor. The key needs the scope of the ordering route. */
export class QuotesGroup extends HttpApiGroup.make("quotes").add(
  HttpApiEndpoint.post("quote", "/quotes", {
    payload: QuoteBody,
    success: QuoteView,
    error: [
      ...bodyErrors,
      errors.ModelNotFound,
      errors.ModalityNotReady,
      errors.ModalityMismatch,
      errors.VideoUnsupportedProtocol,
      errors.ImageUnsupportedProtocol,
      errors.VideoSkuInvalid,
      errors.BillingUnavailable,
      errors.ChannelUnavailable,
      upstreamErrorAt(400)
    ]
  })
    .annotate(RequiredScope, ["videos", "images", "chat", "embeddings", "rerank", "audio"])
    .annotate(FreeCall, "quotes")
    .annotate(BodyLimit, "texts")
    .annotate(DecodesBody, true)
    .annotateMerge(
      operation(
        "Quote an order",
        "What the order with this body would hold and cost, and whether pool and cap allow it now. " +
          "No money is moved and no vendor is called. The key needs the scope of the route that would take " +
          "the order, and what that route would refuse is refused with the same error."
      )
    )
) {}
