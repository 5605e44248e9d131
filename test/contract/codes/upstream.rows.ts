/** Vendors that refuse, fail or cannot be reached: what they said, under our status. */
import { randomUUID } from "node:crypto"
import { Effect, Struct } from "effect"
import { type Asked, as, asRich, chat, image, type Json, row, video, withHeaders } from "./Row.ts"
import { Surface, TEXT_TIMEOUT_SECONDS, type VendorDoes } from "./Surface.ts"
import { waitHeaders } from "./waiting.ts"

const orders = {
  video: video({ model: "film-told" }),
  images: image({ model: "paint-told" }),
  chat: chat({ model: "talk-told" }),
  "chat as a stream": chat({ model: "talk-told", stream: true })
}

/** The vendor does it until the row is over. */
const whileVendor = (does: VendorDoes, asked: Effect.Effect<Asked, never, Surface>) =>
  Effect.gen(function* () {
    const { vendor } = yield* Surface
    yield* Effect.acquireRelease(vendor(does), () => vendor({ does: "deliver" }))
    return yield* asked
  })

const bodyWith = (code: string) => ({
  error: { message: "no hats", code, detail: [1, { deep: true }] }
})
const BODY = bodyWith("hats")
/** By which the vendors are known to refuse what others may have refused as well. */
const BUSY = bodyWith("RateLimitExceeded")
const bodies: Readonly<Record<number, typeof BODY>> = { 429: BUSY, 503: bodyWith("overloaded") }

/** Whether the same order may succeed later, and whether the vendor certainly began none. */
const useless = { retryable: false, unpaid: true, isRepeated: true }
const transient = { retryable: true, unpaid: true, isRepeated: true }
const uncertain = { retryable: true, unpaid: false, isRepeated: false }
const ofAccount = { retryable: false, unpaid: true, isRepeated: false }
const charged = { retryable: false, unpaid: false, isRepeated: false }
type Repeat = typeof useless

const said = (
  upstream: { readonly status: number | null; readonly body: unknown },
  { isRepeated, ...facts }: Repeat,
  retryAfter: number | null = null
): { more: Json; headers: Record<string, string> } => ({
  more: { upstream, ...facts, retry_after: retryAfter },
  headers: {
    ...(isRepeated ? {} : { "x-should-retry": "false" }),
    ...(retryAfter === null ? {} : waitHeaders(retryAfter))
  }
})

/** What the vendor answers, what the client gets, and whether it may try again. */
const refusals: ReadonlyArray<readonly [vendors: number, ours: number, repeat: Repeat]> = [
  [400, 400, useless],
  [404, 404, useless],
  [413, 413, useless],
  [415, 415, useless],
  [422, 422, useless],
  [401, 502, ofAccount],
  [402, 502, ofAccount],
  [403, 502, ofAccount],
  [409, 502, uncertain],
  [429, 503, transient],
  [500, 502, uncertain],
  [502, 502, uncertain],
  [503, 502, transient],
  [504, 504, uncertain],
  [408, 504, uncertain]
]

/** Each for images, and some for the others: their adapters share the way to a vendor. */
const triedWith: Readonly<Record<keyof typeof orders, ReadonlyArray<number>>> = {
  images: refusals.map(([vendors]) => vendors),
  video: [400, 402, 429, 500],
  chat: [401, 422, 503, 504],
  "chat as a stream": [403, 413, 500]
}

/** What a vendor says of our account there is not the client's to read. */
const accountStatuses: ReadonlySet<number> = new Set([401, 402, 403])
const ACCOUNT_REFUSED =
  "The vendor of this model does not accept the gateway's account at the moment; the gateway's operator has to see to it"

const refused = Struct.keys(orders).flatMap((kind) =>
  refusals
    .filter(([vendors]) => triedWith[kind].includes(vendors))
    .map(([vendors, ours, repeat]) => {
      const body = bodies[vendors] ?? BODY
      return row(
        "upstream_error",
        `${vendors} of the vendor to ${kind} is ${ours}`,
        whileVendor(
          { does: "refuse", status: vendors, body, message: body.error.message },
          asRich(orders[kind])
        ),
        accountStatuses.has(vendors)
          ? {
              status: ours,
              message: ACCOUNT_REFUSED,
              ...said({ status: vendors, body: null }, repeat)
            }
          : {
              status: ours,
              message: "no hats",
              ...said({ status: vendors, body }, repeat)
            },
        1
      )
    })
)

/** A refusal that names the field of the request in the usual form. */
const SIZE = {
  error: { message: "size must be WxH", type: "invalid_request_error", code: "x", param: "size" }
}
const field = { message: SIZE.error.message, param: SIZE.error.param }
const fieldNamed = (["images", "chat"] as const).map((kind) =>
  row(
    "upstream_error",
    `400 of the vendor to ${kind} that names the field`,
    whileVendor({ does: "refuse", status: 400, body: SIZE, ...field }, asRich(orders[kind])),
    { status: 400, ...field, ...said({ status: 400, body: SIZE }, useless) },
    1
  )
)

const later = Object.entries(orders).map(([kind, asked]) =>
  row(
    "upstream_error",
    `429 of the vendor to ${kind} with a time to come again`,
    whileVendor(
      { does: "refuse", status: 429, body: BUSY, message: "no hats", retryAfterSeconds: 7 },
      asRich(asked)
    ),
    { status: 503, message: "no hats", ...said({ status: 429, body: BUSY }, transient, 7) },
    1
  )
)

/** What no table knows may come from a proxy whose connection to the vendor broke off. */
const unproved = Object.entries(orders).flatMap(([kind, asked]) =>
  (
    [
      [429, 503],
      [503, 502]
    ] as const
  ).map(([vendors, ours]) =>
    row(
      "upstream_error",
      `${vendors} to ${kind} by a code that its vendor has not`,
      whileVendor(
        { does: "refuse", status: vendors, body: BODY, message: "no hats", isKnown: false },
        asRich(asked)
      ),
      { status: ours, message: "no hats", ...said({ status: vendors, body: BODY }, uncertain) },
      1
    )
  )
)

const NO_ANSWER = { status: null, body: null }

const UNREAD = "The vendor's answer could not be read"
const CHARGED = /is charged ([\d.]+) CNY by the formula: GET \/v1\/usage\/(us_(?:im|tx)_[\w-]+) is/

/** Text and images that were answered with success are charged. */
const unreadableAnswerError = (text: string) => {
  const [, charge = "", receipt = ""] = CHARGED.exec(text) ?? []
  const message = `${UNREAD}. It answered HTTP 200, so the order is charged ${charge} CNY by the formula: GET /v1/usage/${receipt} is the receipt, and the gateway's operator can correct it`
  return { message, charge }
}

const lost = Object.entries(orders).flatMap(([kind, asked]) => [
  row(
    "upstream_error",
    `an answer to ${kind} that is none`,
    whileVendor({ does: "mumble", body: { hello: 1 } }, asRich(asked)),
    ({ text }) => ({
      status: 502,
      ...(kind === "video" ? { message: UNREAD } : unreadableAnswerError(text)),
      ...said({ status: 200, body: null }, kind === "video" ? uncertain : charged)
    }),
    1
  ),
  row(
    "upstream_error",
    `a connection lost after ${kind} was sent`,
    whileVendor({ does: "hang up" }, asRich(asked)),
    {
      status: 502,
      message: "The connection to the vendor was lost before its answer was complete",
      ...said(NO_ANSWER, uncertain)
    },
    1
  )
])

const silent = row(
  "upstream_error",
  "a vendor that does not answer in time",
  whileVendor({ does: "keep silent" }, asRich(orders.chat)),
  {
    status: 504,
    message: `The vendor did not answer within ${TEXT_TIMEOUT_SECONDS} seconds`,
    ...said(NO_ANSWER, uncertain)
  },
  1
)

const unreachable = row(
  "upstream_error",
  "an address where nothing listens",
  asRich(video({ model: "film-nowhere" })),
  { status: 502, message: "The vendor could not be reached", ...said(NO_ANSWER, transient) }
)

/** Asked twice under one key: the vendor hears of it once. */
const twice = (asked: Asked) =>
  Effect.gen(function* () {
    const { customer, call } = yield* Surface
    const { path, ...options } = withHeaders(asked, { "idempotency-key": randomUUID() })
    const who = yield* customer("100")
    yield* call(path, { ...options, key: who.key })
    return as(who, { path, ...options })
  })

const replayed = [
  row(
    "upstream_error",
    "the repeat of a refused order",
    whileVendor(
      { does: "refuse", status: 422, body: BODY, message: "no hats" },
      twice(orders.images)
    ),
    () => {
      const { more, headers } = said({ status: 422, body: BODY }, useless)
      return {
        status: 422,
        message: "no hats",
        more,
        headers: { ...headers, "idempotency-replayed": "true" }
      }
    }
  ),
  row(
    "upstream_error",
    "the repeat of a lost order, which is not sent again",
    whileVendor({ does: "hang up" }, twice(orders.video)),
    () => {
      const { more, headers } = said(NO_ANSWER, uncertain)
      return {
        status: 502,
        message: "The connection to the vendor was lost before its answer was complete",
        more,
        headers: { ...headers, "idempotency-replayed": "true" }
      }
    }
  )
]

export const upstreamRows = [
  ...refused,
  ...fieldNamed,
  ...later,
  ...unproved,
  ...lost,
  unreachable,
  ...replayed,
  silent
]
