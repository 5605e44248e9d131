/** The catalog as operators write it: channels, models and the mounts between them. */
import { Effect, Schema } from "effect"
import { PositiveAmount } from "../money/Money.ts"
import { plainText } from "../plainText.ts"
import { ProtocolName, QueueDocument } from "../queue/QueueDocument.ts"
import { VideoLimits } from "../video/videoLimits.ts"
import { Modality } from "./Modality.ts"
import { ModelLimits } from "./ModelLimits.ts"
import { Prices } from "./Prices.ts"

export const Id = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/, {
    expected: "an id of 1 to 128 letters, digits or . _ : / -, starting with a letter or digit"
  })
)

const BASE_URL = "an http or https address without query, fragment or user"

const isUsable = (address: string): boolean => {
  const url = URL.parse(address)
  return url !== null && url.port !== "0"
}

const BaseUrl = Schema.String.check(
  Schema.makeFilter(isUsable, { expected: `${BASE_URL}, with a host and port to call` }).abort(),
  Schema.isPattern(/^https?:\/\/[^\s?#@\\/\p{Cc}\p{Cs}][^\s?#@\\\p{Cc}\p{Cs}]{0,499}$/iu, {
    expected: BASE_URL
  })
)

/**
 * Text that can be an HTTP header value: one line of Latin-1 without leading or trailing blanks.
 */
const headerText = (maxLength: number) =>
  Schema.String.check(
    Schema.isPattern(
      new RegExp(`^(?![ \\u00a0])[ -~\\u00a0-\\u00ff]{1,${maxLength}}(?<![ \\u00a0])$`, "u"),
      {
        expected: `1 to ${maxLength} Latin letters, digits and signs, without blanks at the ends`
      }
    )
  )

const Enabled = Schema.Boolean.annotate({
  description: "False takes it out of use; true when left out"
}).pipe(Schema.withDecodingDefaultKey(Effect.succeed(true)))

const orNull = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.NullOr(schema)
    .annotate({ description })
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))

/** The call parameters of a vendor, checked by the schemas `address` and `text`. */
const callFields = (address: Schema.String, text: Schema.String) => ({
  base_url: address.annotate({
    description: "The vendor's base address, as its documentation gives it"
  }),
  app_id: orNull(text, "Application id, which vp_b needs")
})

const MAX_TASKS = 10_000

const channelFields = {
  id: Id.annotate({ description: "The channel's id, which mounts refer to" }),
  name: plainText().annotate({ description: "For people" }),
  allow_private: Schema.optionalKey(
    Schema.Boolean.annotate({
      description:
        "Whether base_url may be a link-local address or one of a cloud's metadata service; loopback and private networks need no leave"
    })
  ),
  max_tasks: Schema.optionalKey(
    Schema.Int.check(
      Schema.isBetween({ minimum: 1, maximum: MAX_TASKS }, { expected: `1 to ${MAX_TASKS}` })
    ).annotate({
      description:
        "How many videos the vendor makes at a time; more wait where their order has max_wait. No limit when left out"
    })
  ),
  enabled: Enabled
}

const keyFields = {
  name: Id.annotate({ description: "What operators call the key" }),
  enabled: Enabled
}

const ApiKey = Schema.NullOr(
  Schema.RedactedFromValue(
    headerText(4096).annotate({
      description:
        "The vendor's key: write-only; left out or null keeps the stored one, unless base_url has another scheme, host or port than it was given for"
    })
  )
)

const ChannelKey = Schema.Struct(keyFields)
export type ChannelKey = typeof ChannelKey.Type
const ChannelKeyWrite = Schema.Struct({ ...keyFields, api_key: Schema.optionalKey(ApiKey) })
export type ChannelKeyWrite = typeof ChannelKeyWrite.Type

const API_KEYS =
  "The keys that orders take in turn, where there are several; one that is not listed is forgotten"

/**
 * A channel as stored and read back, without the values of its keys. A channel that does not
 * satisfy the rules for writing can still be read, but not called: the gateway then starts, and the
 * operator can correct the channel.
 */
export const Channel = Schema.Struct({
  ...channelFields,
  ...callFields(Schema.String, Schema.String),
  api_keys: Schema.optionalKey(Schema.Array(ChannelKey).annotate({ description: API_KEYS }))
})
export type Channel = typeof Channel.Type

/** A channel as written by operators: a key without a value keeps the stored value. */
export const ChannelWrite = Schema.Struct({
  ...channelFields,
  ...callFields(BaseUrl, headerText(200)),
  api_key: Schema.optionalKey(ApiKey),
  api_keys: Schema.optionalKey(Schema.Array(ChannelKeyWrite).annotate({ description: API_KEYS }))
})
export type ChannelWrite = typeof ChannelWrite.Type

/** The account of a channel that is not in the catalog yet. */
export const NewAccount = Schema.Struct({
  protocol: ProtocolName.annotate({ description: "The protocol that the vendor speaks" }),
  ...callFields(BaseUrl, headerText(200)),
  allow_private: channelFields.allow_private,
  api_key: Schema.RedactedFromValue(
    headerText(4096).annotate({ description: "The vendor's key, which is not stored" })
  )
})
export type NewAccount = typeof NewAccount.Type

export const Model = Schema.Struct({
  id: Id.annotate({ description: "The name clients order by" }),
  aliases: Schema.optionalKey(
    Schema.Array(Id).annotate({
      description:
        "Other names clients may order it by; orders are recorded under the id. None when left out"
    })
  ),
  modality: Modality,
  protocol: ProtocolName.annotate({ description: "The official protocol of the model" }),
  owned_by: plainText()
    .annotate({ description: "Who made it, for display" })
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed("media-gateway"))),
  input_forms: Schema.Array(plainText())
    .annotate({ description: "What it takes: display only, nothing is refused by it" })
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  prices: Schema.optionalKey(Prices),
  limits: Schema.optionalKey(ModelLimits)
})
export type Model = typeof Model.Type

const wholeOr = (fallback: number, maximum: number, description: string) =>
  Schema.Int.check(
    Schema.isBetween({ minimum: 0, maximum }, { expected: `a whole number from 0 to ${maximum}` })
  )
    .annotate({ description: `${description}; ${fallback} when left out` })
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(fallback)))

export const Mount = Schema.Struct({
  model: Id.annotate({ description: "The model that is mounted" }),
  channel: Id.annotate({ description: "The channel it is mounted on" }),
  protocol: orNull(ProtocolName, "Overrides the model's protocol; null takes the model's"),
  upstream_model: orNull(plainText(), "The vendor's name of the model; null sends the catalog's"),
  priority: wholeOr(0, 1000, "Mounts of a lower number are called before those of a higher one"),
  weight: wholeOr(
    1,
    1000,
    "Share of the orders among the mounts of one priority; 0 is called only where others fail"
  ),
  limits: Schema.optionalKey(VideoLimits),
  cost: Schema.optionalKey(
    Schema.Union(Prices.members).annotate({
      description:
        "What the vendor bills us, in the shape of a model's prices; only operators see it"
    })
  ),
  bill_unit_price: Schema.optionalKey(
    PositiveAmount.annotate({
      description: "What a unit costs that the vendor reports as billed"
    })
  ),
  enabled: Enabled
})
export type Mount = typeof Mount.Type

const tables = {
  models: Schema.Array(Model).annotate({ description: "What can be ordered" }),
  mounts: Schema.Array(Mount).annotate({
    description:
      "Which model is called on which channels; a model's orders go to its mounts by priority and weight"
  }),
  protocols: Schema.optionalKey(
    Schema.Array(QueueDocument).annotate({
      description: "Vendors that documents describe, each a protocol of its own"
    })
  )
}

/** The stored catalog. */
export const CatalogDocument = Schema.Struct({
  channels: Schema.Array(Channel).annotate({ description: "Vendor accounts" }),
  ...tables
}).annotate({ identifier: "Catalog", description: "The whole catalog" })
export type CatalogDocument = typeof CatalogDocument.Type

/** The request body of `PUT /admin/v1/catalog`. */
export const CatalogWrite = Schema.Struct({
  channels: Schema.Array(ChannelWrite).annotate({ description: "Vendor accounts" }),
  ...tables
}).annotate({
  identifier: "CatalogWrite",
  description: "Replaces the whole catalog; one that contradicts itself is refused with every fault"
})
export type CatalogWrite = typeof CatalogWrite.Type
