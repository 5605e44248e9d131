import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { PriceTier } from "../../domain/video/tiers.ts"
import {
  BillingUnavailable,
  bodyErrors,
  ChannelUnavailable,
  ImageUnsupportedProtocol,
  ModalityMismatch,
  ModalityNotReady,
  ModelNotFound,
  VideoSkuInvalid,
  VideoUnsupportedProtocol
} from "./apiErrors.ts"
import {
  chatExamples,
  embeddingExamples,
  imageExamples,
  operation,
  videoExamples
} from "./document.ts"
import { Authorization, BodyLimit, FreeCall, RequestRules, RequiredScope } from "./middlewares.ts"
import { SignedAmount } from "./shared.ts"

/**
 * The body of an ordering route: the model's modality decides of which, and the handler decodes it as
 * that route does.
 */
export const QuoteBody = Schema.StructWithRest(
  Schema.Struct({
    model: Schema.NonEmptyString.annotate({
      description: "The model; its modality decides how the rest is read",
      examples: ["film-1"]
    })
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
).annotate({
  description:
    "The body of a video, image, chat or embeddings order, as it would be sent to order it; at most " +
    "1 MiB, with addresses in place of inline media"
})

const Affordable = Schema.Struct({
  pool: Schema.Boolean.annotate({
    description: "Whether the organisation's pool allows the hold at this moment",
    examples: [true]
  }),
  pool_available: SignedAmount.annotate({
    description: "What the pool has available, as a decimal string; may be negative",
    examples: ["95.032"]
  }),
  cap: Schema.Boolean.annotate({
    description: "Whether the member's monthly cap allows the hold; true without a cap",
    examples: [true]
  }),
  cap_available: Schema.NullOr(SignedAmount).annotate({
    description: "What is left of the member's cap this month; null without a cap",
    examples: ["45.032"]
  })
}).annotate({ description: "Whether the order would be taken now; another one may come first" })

const common = {
  object: Schema.Literal("quote").annotate({ description: "Always `quote`", examples: ["quote"] }),
  model: Schema.String.annotate({ description: "The model asked about", examples: ["film-1"] }),
  modality: Schema.Literals(["video", "image", "chat", "vlm", "embedding"]).annotate({
    description: "The model's modality",
    examples: ["video"]
  }),
  currency: Schema.String.annotate({
    description: "Currency of every amount",
    examples: ["CNY"]
  }),
  hold: SignedAmount.annotate({
    description: "What ordering sets aside before the vendor is called",
    examples: ["4.968"]
  }),
  expected_charge: SignedAmount.annotate({
    description:
      "What the order is expected to cost: exact for seconds and images, and for tokens the formula, which the vendor's own count replaces",
    examples: ["4.968"]
  }),
  unit_price: SignedAmount.annotate({
    description:
      "Currency units per `unit`, exact; of text, per output token, and of embeddings per input token",
    examples: ["0.000046"]
  }),
  formula: Schema.String.annotate({
    description: "How the hold was reckoned, in one line",
    examples: ["(0 + 5) s x 21600 tokens/s x 0.000046 = 4.968"]
  }),
  affordable: Affordable
}

const resolution = Schema.String.annotate({
  description: "The resolution that is billed",
  examples: ["720p"]
})

/** Inputs of a quote that counts tokens; receipts show the same. */
export const TokenVideoInputs = Schema.Struct({
  input_seconds: Schema.Int.annotate({
    description:
      "Seconds of reference video that are billed: of those that came inline and can be read (MP4, QuickTime, WebM), at least 4 in all; addresses are not fetched, so what they lead to is not counted beyond the 4; 0 without a reference video",
    examples: [0]
  }),
  output_seconds: Schema.Int.annotate({
    description: "Seconds that are prepaid; 15 where the model chooses the length",
    examples: [5]
  }),
  tokens_per_second: Schema.Int.annotate({
    description: "Tokens the formula counts for a second of this resolution",
    examples: [21600]
  }),
  estimated_tokens: Schema.Int.annotate({
    description: "Tokens that are held",
    examples: [108000]
  }),
  with_video: Schema.Boolean.annotate({
    description: "Whether a reference video puts the whole order on the with-video price",
    examples: [false]
  }),
  smart: Schema.Boolean.annotate({
    description: "Whether the model chooses the length (duration -1)",
    examples: [false]
  })
})

/** Inputs of a quote that counts seconds; receipts show the same. */
export const SecondVideoInputs = Schema.Struct({
  seconds: Schema.Int.annotate({ description: "Output seconds ordered", examples: [5] })
})

/** Inputs of a quote that counts images; receipts show the same. */
export const ImageInputs = Schema.Struct({
  images: Schema.Int.annotate({
    description: "Images ordered (`n`); the number that comes back changes nothing",
    examples: [1]
  })
})

/** Inputs of a quote for text; receipts show the same. */
export const TextInputs = Schema.Struct({
  input_tokens: Schema.Int.annotate({
    description: "Input tokens that are held for, by the size of what is sent",
    examples: [12]
  }),
  output_tokens: Schema.Int.annotate({
    description: "Output tokens that are held for: what the request allows; 0 for embeddings",
    examples: [4096]
  })
})

export const tier = PriceTier.annotate({
  description: "The price row used; a resolution without a price of its own takes `base`",
  examples: ["base"]
})

const INPUTS = "What the hold was reckoned from"

/** One shape for each way of billing, told apart by `kind`. */
export const QuoteView = Schema.Union([
  Schema.Struct({
    ...common,
    kind: Schema.Literal("token_video").annotate({
      description: "Billed by tokens",
      examples: ["token_video"]
    }),
    unit: Schema.Literal("token").annotate({ description: "What is counted", examples: ["token"] }),
    resolution,
    tier,
    inputs: TokenVideoInputs.annotate({ description: INPUTS })
  }),
  Schema.Struct({
    ...common,
    kind: Schema.Literal("second_video").annotate({
      description: "Billed by output seconds",
      examples: ["second_video"]
    }),
    unit: Schema.Literal("second").annotate({
      description: "What is counted",
      examples: ["second"]
    }),
    resolution,
    inputs: SecondVideoInputs.annotate({ description: INPUTS })
  }),
  Schema.Struct({
    ...common,
    kind: Schema.Literal("image").annotate({
      description: "Billed by images",
      examples: ["image"]
    }),
    unit: Schema.Literal("image").annotate({ description: "What is counted", examples: ["image"] }),
    inputs: ImageInputs.annotate({ description: INPUTS })
  }),
  Schema.Struct({
    ...common,
    kind: Schema.Literal("tokens").annotate({
      description: "Text, billed by input and output tokens",
      examples: ["tokens"]
    }),
    unit: Schema.Literal("token").annotate({ description: "What is counted", examples: ["token"] }),
    input_unit_price: SignedAmount.annotate({
      description: "Currency units per input token, exact",
      examples: ["0.000002"]
    }),
    inputs: TextInputs.annotate({ description: INPUTS })
  })
])
export type QuoteView = typeof QuoteView.Type

/**
 * Takes nothing and calls nobody. The key needs the scope of the route that would take the order, by
 * the model's modality.
 */
export class QuotesGroup extends HttpApiGroup.make("quotes")
  .add(
    HttpApiEndpoint.post("quote", "/quotes", {
      payload: QuoteBody,
      success: QuoteView,
      error: [
        ...bodyErrors,
        ModelNotFound,
        ModalityNotReady,
        ModalityMismatch,
        VideoUnsupportedProtocol,
        ImageUnsupportedProtocol,
        VideoSkuInvalid,
        BillingUnavailable,
        ChannelUnavailable
      ]
    })
      .annotate(RequiredScope, ["videos", "images", "chat", "embeddings"])
      .annotate(FreeCall, "quotes")
      .annotate(BodyLimit, "texts")
      .annotateMerge(
        operation(
          "Quote an order",
          "What the order with this body would hold and cost, and whether pool and cap allow it now. " +
            "Nothing is taken and nobody is called. The key needs the scope of the route that would take " +
            "the order, and what that route would refuse is refused with the same error.",
          { ...videoExamples, ...imageExamples, ...chatExamples, ...embeddingExamples }
        )
      )
  )
  .middleware(RequestRules)
  .middleware(Authorization)
  .prefix("/v1") {}
