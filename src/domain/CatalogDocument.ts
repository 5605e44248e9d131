/** The catalog as operators write it: channels, models and the mounts between them. */
import { Effect, Schema } from "effect"
import { Modality } from "./Modality.ts"
import { Prices } from "./Prices.ts"
import { plainText } from "./text.ts"

const Id = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/, {
    expected: "an id of 1 to 128 letters, digits or . _ : / -, starting with a letter or digit"
  })
)

/** A protocol's name. One the gateway has no adapter for is kept, and refused when it is called. */
const ProtocolName = Schema.String.check(
  Schema.isPattern(/^[a-z][a-z0-9_]{0,31}$/, { expected: "a protocol such as vp_a or ip_b" })
)

const BaseUrl = Schema.String.check(
  Schema.isPattern(/^https?:\/\/[^\s?#@\p{Cc}\p{Cs}]{1,500}$/iu, {
    expected: "an http or https address without query, fragment or user"
  })
)

const channelFields = {
  id: Id,
  name: plainText(),
  base_url: BaseUrl,
  app_id: Schema.NullOr(plainText()).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  enabled: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(true)))
}

/** A channel as it is stored and read back: without its key. */
export const Channel = Schema.Struct(channelFields)
export type Channel = typeof Channel.Type

/** A channel as it is written: `api_key` absent or null keeps the stored one. */
export const ChannelWrite = Schema.Struct({
  ...channelFields,
  api_key: Schema.optionalKey(Schema.NullOr(Schema.RedactedFromValue(plainText(4096))))
})
export type ChannelWrite = typeof ChannelWrite.Type

export const Model = Schema.Struct({
  id: Id,
  modality: Modality,
  /** The official protocol of the model; a mount may carry another. */
  protocol: ProtocolName,
  owned_by: plainText().pipe(Schema.withDecodingDefaultKey(Effect.succeed("media-gateway"))),
  /** Display only: the gateway does not block on them (Modality overview, rule 4). */
  input_forms: Schema.Array(plainText()).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  prices: Schema.optionalKey(Prices)
})
export type Model = typeof Model.Type

export const Mount = Schema.Struct({
  model: Id,
  channel: Id,
  /** Overrides the model's protocol; null takes the model's. */
  protocol: Schema.NullOr(ProtocolName).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  /** The vendor's name of the model; null sends the catalog name. */
  upstream_model: Schema.NullOr(plainText()).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(null))
  ),
  enabled: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(true)))
})
export type Mount = typeof Mount.Type

/** The stored catalog. Mounts are tried in their order. */
export const CatalogDocument = Schema.Struct({
  channels: Schema.Array(Channel),
  models: Schema.Array(Model),
  mounts: Schema.Array(Mount)
})
export type CatalogDocument = typeof CatalogDocument.Type

/** The catalog as `PUT /admin/v1/catalog` takes it. */
export const CatalogWrite = Schema.Struct({
  channels: Schema.Array(ChannelWrite),
  models: Schema.Array(Model),
  mounts: Schema.Array(Mount)
})
export type CatalogWrite = typeof CatalogWrite.Type
