/** The arguments of an order tool that are no fields of the order: what it may cost, and its name. */
import { createHash } from "node:crypto"
import { Effect, Predicate, Schema } from "effect"
import {
  type GatewayError,
  IdempotencyConflict,
  IdempotencyMismatch,
  InvalidRequest
} from "../../domain/Errors.ts"
import { Amount } from "../../domain/money/Money.ts"
import { optional, optionalBoolean } from "../../domain/requestFields.ts"
import { CurrentCaller } from "../../http/api/middlewares.ts"
import { decodeBody } from "../../http/server/requestRules.ts"
import type { Caller } from "../../services/Access.ts"
import { IdempotencyKeys } from "../../services/IdempotencyKeys.ts"
import { OrderQuotes } from "./OrderQuotes.ts"
import type { Json } from "./toolSchemas.ts"

const COST = 'a decimal string of currency units, such as "0.5"'

const termFields = {
  max_cost: optional(Amount, COST).annotate({
    description:
      "The most that the order may cost, in currency units: it is never charged more, and refused where it could cost more. Needed without `quote_id`"
  }),
  quote_id: optional(Schema.String, "the quote_id of get_quote").annotate({
    description:
      "A quote of get_quote for exactly these fields: the order costs at most what was quoted, and a quote is ordered once"
  }),
  call_id: optional(
    Schema.String.check(Schema.isPattern(/^[\x21-\x7e]{1,255}$/)),
    "1 to 255 visible ASCII characters"
  ).annotate({
    description:
      "A name of your own for this order: a repeat with the same name gets the first order and is not charged. Not used beside `quote_id`"
  })
}

/** The terms of an order that is always answered by links. */
export const OrderTerms = Schema.Struct(termFields)

/** The largest files, in bytes and together, that a tool embeds into its answer. */
export const MAX_EMBEDDED_BYTES = 4 * 1024 * 1024

export const embedField = optionalBoolean.annotate({
  description: `Whether the answer has the files themselves beside their links: up to ${MAX_EMBEDDED_BYTES / 1024 / 1024} MiB together, and links alone beyond`
})

/** The terms of an order whose files can be embedded into the answer. */
export const EmbeddedOrderTerms = Schema.Struct({ ...termFields, embed: embedField })

const decodeTerms = decodeBody(EmbeddedOrderTerms)

/** The names of arguments that are no fields of an order. */
const termNames: ReadonlySet<string> = new Set(Object.keys(EmbeddedOrderTerms.fields))

/** The fields of an order among the arguments of its tool; null and a missing field are the same. */
export const orderFieldsOf = (args: Json): Json =>
  Object.fromEntries(
    Object.entries(args).filter(([name, value]) => value !== null && !termNames.has(name))
  )

/**
 * The key of a call. It contains the API key, so that the calls of two agents of an organisation
 * with the same name are two orders, and no `Idempotency-Key` of another request is one by chance.
 */
const keyOfCall = ({ keyId }: Caller, callId: string): string =>
  `mcp:call:${createHash("sha256")
    .update(JSON.stringify([keyId, callId]))
    .digest("base64url")}`

const noLimit = new InvalidRequest({
  message: `max_cost: Expected the most that the order may cost, ${COST}, or the quote_id of get_quote in its place`,
  param: "max_cost"
})

/** An order with its terms. */
export interface TermedOrder {
  /** The caller, whose orders are limited to what this one may cost. */
  readonly caller: Caller
  readonly fields: Json
  readonly embed: boolean
  /** The idempotency key; undefined for an order without a name. */
  readonly key: string | undefined
  /** Names the argument at fault where an error names the header of a route or an internal limit. */
  readonly nameArgument: (error: GatewayError) => GatewayError
}

const HEADER = "Idempotency-Key"

/** Makes an error about the idempotency key name the argument that the key is made of. */
const nameKey = (error: GatewayError, argument: string): GatewayError => {
  if (error.param?.toLowerCase() !== HEADER.toLowerCase()) return error
  const message = error.message.replaceAll(HEADER, argument)
  if (error._tag === "idempotency_mismatch") {
    return new IdempotencyMismatch({ message, param: argument })
  }
  if (error._tag !== "idempotency_conflict") return error
  const { retryAfterSeconds } = error
  return new IdempotencyConflict({ message, param: argument, retryAfterSeconds })
}

/** Makes a refusal by the limit name the quote, where the limit is that of a quote. */
const nameQuote = (error: GatewayError): GatewayError =>
  error._tag === "invalid_request" && error.param === "max_cost"
    ? new InvalidRequest({
        message: `quote_id: The order would cost more than was quoted; quote it again (${error.message})`,
        param: "quote_id"
      })
    : error

export const makeOrderTerms = Effect.gen(function* () {
  const quotes = yield* OrderQuotes
  const idempotencyKeys = yield* IdempotencyKeys

  /** A digest of an order, which does not depend on the order of its fields. */
  const digestOf = (tool: string, fields: Json): Effect.Effect<string> =>
    Effect.map(idempotencyKeys.keyOf("", `mcp ${tool}`, fields), ({ fingerprint }) => fingerprint)

  return {
    digestOf,
    /**
     * Decodes the terms of an order. An order without a limit is refused before anything else is
     * decoded.
     */
    decode: Effect.fnUntraced(function* (tool: string, args: Json) {
      if (Predicate.isNullish(args.max_cost) && Predicate.isNullish(args.quote_id)) {
        return yield* noLimit
      }
      const terms = yield* decodeTerms(args)
      const { max_cost: maxCostNano = null, quote_id: quoteId = null, call_id: callId } = terms
      const caller = yield* CurrentCaller
      const fields = orderFieldsOf(args)
      const quote =
        quoteId === null
          ? null
          : yield* quotes.verify(quoteId, { caller, digest: yield* digestOf(tool, fields) })
      const limits = [maxCostNano, quote?.holdNano ?? null].filter((limit) => limit !== null)
      const orderLimitNano = limits.reduce((least, limit) => (limit < least ? limit : least))
      const isQuoteTighter = quote !== null && orderLimitNano === quote.holdNano
      const order: TermedOrder = {
        caller: { ...caller, orderLimitNano },
        fields,
        embed: terms.embed ?? false,
        key: quote?.key ?? (Predicate.isNullish(callId) ? undefined : keyOfCall(caller, callId)),
        nameArgument: (error) => {
          const keyError = nameKey(error, quote === null ? "call_id" : "quote_id")
          return isQuoteTighter ? nameQuote(keyError) : keyError
        }
      }
      return order
    })
  }
})
