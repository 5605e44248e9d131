/** Schemas that several resources share. */
import { Effect, Schema, SchemaTransformation, Struct } from "effect"
import { Sse } from "effect/encoding"
import { HttpApiSchema } from "effect/http-api"
import { partKinds } from "../../domain/money/chargeParts.ts"
import { Amount } from "../../domain/money/Money.ts"
import { type TaskKind, taskKinds } from "../../domain/orderIds.ts"
import { plainText } from "../../domain/plainText.ts"
import { cancellationStatuses } from "../../domain/taskAnswers.ts"
import { publicStates } from "../../domain/taskStates.ts"

/** The annotations of a field: its description, and an example. */
const annotationsOf = <A>(description: string, example?: A) =>
  example === undefined ? { description } : { description, examples: [example] }

// Fields of answers

export const text = (description: string, example?: string) =>
  Schema.String.annotate(annotationsOf(description, example))
export const integer = (description: string, example?: number) =>
  Schema.Int.annotate(annotationsOf(description, example))
export const flag = (description: string, example?: boolean) =>
  Schema.Boolean.annotate(annotationsOf(description, example))
export const oneOf = <const L extends ReadonlyArray<string>>(
  literals: L,
  description: string,
  example?: L[number]
) => Schema.Literals(literals).annotate(annotationsOf(description, example))
export const nullable = <S extends Schema.Top>(
  schema: S,
  description: string,
  example?: S["Type"]
) => Schema.NullOr(schema).annotate(annotationsOf(description, example))
export const textOrNull = (description: string, example?: string) =>
  nullable(Schema.String, description, example)
export const arrayOf = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.Array(schema).annotate({ description })
/** A field that always has the same value. */
export const constant = <L extends string>(literal: L, description: string) =>
  Schema.Literal(literal).annotate(annotationsOf(description, literal))

/** An event of a streamed answer, with a description of each of its fields. */
export const streamEvent = (descriptions: {
  readonly id: string
  readonly event: string
  readonly data: string
}) =>
  Sse.EventEncoded.mapFields(({ id, event, data }) => ({
    id: id.annotateKey({ description: descriptions.id }),
    event: event.annotate({ description: descriptions.event }),
    data: data.annotate({ description: descriptions.data })
  }))

/** A decimal string of currency units. A balance is negative after a charge above its hold. */
export const decimal = (description: string, example = "95.032") => text(description, example)
export const amount = (description: string) => decimal(`${description}, in currency units`)
export const decimalOrNull = (description: string, example?: string) =>
  nullable(decimal("Decimal string of currency units"), description, example)

/** A time in ISO 8601 with milliseconds, UTC. */
export const time = (description: string) => text(description, "2026-01-31T12:00:00.000Z")
export const Timestamp = time("ISO 8601 time, UTC")
export const timeOrNull = (description: string) => nullable(Timestamp, description)

/** The format of the query parameters `from` and `to`. */
export const TIME_FORMAT = "A day, or an ISO 8601 time such as 2027-01-31T12:00:00Z"

/** A pool as its members and operators see it. */
export const poolFields = {
  balance: amount("The balance of the pool"),
  held: amount("The holds of open orders"),
  available: amount("The balance without the holds, with the credit that new holds may use")
}

/** The fields about open orders that may cost a pool more than their holds. */
export const exposureFields = {
  exposure: amount(
    "The most that open orders can cost; more than `held` where their size is unknown"
  ),
  credit: amount("How far below zero orders of unknown size may take the pool")
}

/** A decimal string, or null. */
export const AmountOrNull = Schema.NullOr(Amount)

/** Refuses unknown fields in operators' bodies, as an unknown field may be a mistyped name. */
export const strictParsing = { onExcessProperty: "error", errors: "all" } as const

const DEFAULT_PAGE = 20
const MAX_PAGE = 100

/** A whole number in a path or a query, written only with digits. */
export const wholeNumber = (minimum: number, maximum: number, description: string) => {
  const expected = `a whole number from ${minimum} to ${maximum}`
  return Schema.String.check(Schema.isPattern(/^\d{1,9}$/, { expected }))
    .annotate({ description: `${description}: ${expected}` })
    .pipe(
      Schema.decodeTo(
        Schema.Int.check(Schema.isBetween({ minimum, maximum }, { expected })),
        SchemaTransformation.numberFromString
      )
    )
}

export const pageQuery = {
  after: Schema.optionalKey(
    plainText().annotate({ description: "Id of the last entry of the page before" })
  ),
  limit: wholeNumber(
    1,
    MAX_PAGE,
    `Entries of a page at most, ${DEFAULT_PAGE} when left out; a page ends early where it comes to 256 KiB`
  ).pipe(Schema.withDecodingDefaultKey(Effect.succeed(String(DEFAULT_PAGE))))
}

/** A page of a list, `{"object":"list","data":[...],"has_more"}`, newest first. */
export const list = <S extends Schema.Top>(entry: S) =>
  Schema.Struct({
    object: Schema.Literal("list").annotate({ description: "Always `list`" }),
    data: arrayOf(entry, "The entries, newest first"),
    has_more: flag("Whether a further page exists")
  })

/**
 * A page of a list with the ids of its first and last entry, which SDKs such as OpenAI's expect.
 */
export const listWithEnds = <S extends Schema.Top>(entry: S) =>
  Schema.Struct({
    ...list(entry).fields,
    first_id: textOrNull("Id of the first entry; null where there is none"),
    last_id: textOrNull("Id of the last entry, for `after`; null where there is none")
  })

export const expiresAt = Schema.optionalKey(
  time("When the vendor deletes the file, where it says so; ISO 8601 in UTC")
)

/** The request for a file, with `Range` and the headers of conditional requests. */
export const fileRequest = {
  query: {
    token: Schema.optionalKey(
      text("Opens the file without an API key; part of a content link of the task")
    )
  },
  headers: {
    range: Schema.optionalKey(text("The requested byte range", "bytes=0-1023")),
    "if-range": Schema.optionalKey(
      text("The `etag` of the file that the range is of; another file is sent completely")
    ),
    "if-none-match": Schema.optionalKey(
      text("The `etag` of the file that the client has, which is answered with 304")
    )
  },
  success: HttpApiSchema.StreamUint8Array({ contentType: "application/octet-stream" })
}

/** The description of lists that are available as CSV. */
export const CSV_DESCRIPTION =
  "With `Accept: text/csv` the page comes as CSV with a header row, and a `link` header with " +
  '`rel="next"` names the following page.'

export const metadata = Schema.Record(Schema.String, Schema.String).annotate({
  description: "The metadata that the client sent with the order"
})

/** The maximum number of characters in a tag: a name, an equals sign and a text. */
export const MAX_TAG = 600

/** The query of a list of usage, which may be filtered by a tag. */
export const usageQuery = {
  ...pageQuery,
  tag: Schema.optionalKey(
    plainText(MAX_TAG)
      .check(Schema.isPattern(/^[^=]+=/, { expected: "a name and a text, as project=lighthouse" }))
      .annotate({
        description: "Only orders with this in their `metadata`, as `project=lighthouse`"
      })
  )
}

/** A part of a charge: units that have a price of their own. */
export const chargeParts = Schema.optionalKey(
  arrayOf(
    Schema.Struct({
      kind: oneOf(partKinds, "What they are", "cached_input"),
      units: integer(
        "How many; `input` or `output` includes them, except for `reference`: reference images, which are charged beside them",
        1024
      ),
      unit_price: decimal("Currency units for each, exact", "0.0000005")
    }),
    "The units that are charged at a price of their own; absent where there are none"
  )
)

export const UsageEntry = Schema.Struct({
  id: text("The record's id"),
  model: text("The ordered model"),
  modality: text("Its modality"),
  input: integer("Charged input units"),
  output: integer("Charged output units: tokens, seconds, clips, images, characters or searches"),
  unit: text("The unit of billing: token, second, clip or image"),
  unit_price: text("Currency units per output unit, exact"),
  input_unit_price: textOrNull("Of text: currency units per input token; null for all else"),
  charge: text("The charge, in currency units"),
  basis: text(
    "What the number of units comes from, such as upstream_usage, requested_images or unread_answer"
  ),
  task_id: textOrNull("The video task; null for synchronous orders"),
  created_at: time("When it was charged, ISO 8601 in UTC"),
  metadata,
  parts: chargeParts,
  month: text(
    "The month of the order, in which it counts, by the deployment's time zone",
    "2026-10"
  )
}).annotate({ identifier: "UsageRecord", description: "One charge" })

/**
 * The columns of charges in CSV: the fields of a usage record without its parts, which are a list.
 * The file of a statement has them.
 */
export const usageColumns = (fields: typeof UsageEntry.fields): ReadonlyArray<string> =>
  Struct.keys(fields).filter((name) => name !== "parts")

export const AttemptView = Schema.Struct({
  channel: text("The channel"),
  protocol: text("The protocol it was called by"),
  upstream_model: text("The vendor's name of the model"),
  started_at: time("When the order was sent to it"),
  status: nullable(Schema.Int, "HTTP status of the failure; null where nothing was answered"),
  reason: textOrNull(
    "Why the channel did not serve the order, such as rate_limited; null where it did or still may"
  ),
  message: textOrNull("The vendor's own message about the failure, where it told one")
}).annotate({ identifier: "Attempt", description: "One channel an order was sent to" })
export type AttemptView = typeof AttemptView.Type

const IdempotencyKey = Schema.String.check(
  Schema.isPattern(/^[\x21-\x7e]{1,255}$/, { expected: "1 to 255 visible ASCII characters" })
).annotate({
  description:
    "1 to 255 visible ASCII characters that identify this request: a repeat gets the answer of the first one"
})

export const idempotencyHeader = { "idempotency-key": Schema.optionalKey(IdempotencyKey) }

// Tasks

export const MAX_WAIT_SECONDS = 60

export const taskId = text("The task's id")
export const taskStatus = <T extends string>(status: T) =>
  Schema.Literal(status).annotate({ description: "The state of the task" })

export const TaskFailure = Schema.Struct({
  code: text("The code of the failure, of the vendor or of the gateway"),
  message: text("The vendor's message")
})

/** The place of an order that waits for its channel. */
export const QueueView = Schema.Struct({
  position: integer(
    "The turn in which it is submitted if nothing else is ordered: 1 for the next order"
  ),
  seconds: nullable(
    Schema.Int,
    "Seconds until it is expected to be submitted; null where no such video has ended yet"
  )
})
export const queueFields = {
  queue: Schema.optionalKey(
    QueueView.annotate({
      description: "Set while the order waits for a place at its channel (`max_wait`)"
    })
  )
}

/** What came of the request to cancel a task that goes on. */
export const cancellationFields = {
  cancellation: Schema.optionalKey(
    Schema.Struct({
      status: oneOf(
        cancellationStatuses,
        "`requested`: the vendor took the request, and the task's end shows what came of it; `refused`: the task goes on; `unknown`: the vendor could not be asked, cancel again"
      ),
      message: text("Why the task goes on")
    }).annotate({ description: "Set in the answer to a cancel of a task that goes on" })
  )
}

/** The request for a task, with long polling when it has a `wait`. */
export const taskRequest = {
  params: { task_id: taskId },
  query: {
    wait: wholeNumber(0, MAX_WAIT_SECONDS, "Seconds to wait for the end of the task").pipe(
      Schema.withDecodingDefaultKey(Effect.succeed("0"))
    )
  }
}

/** The request for a task's events after the last event that the client has seen. */
export const taskEventsRequest = {
  params: { task_id: taskId },
  headers: {
    "last-event-id": Schema.optionalKey(
      text(
        "Id of the last event that the client has seen: it is not repeated, and after the last event of the task the answer is 204. Unknown ids are ignored",
        "1"
      )
    )
  }
}

const isTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(text) &&
  !Number.isNaN(Date.parse(text))

/** The query of a list of the member's own tasks. */
export const taskListQuery = {
  ...pageQuery,
  order: oneOf(["desc", "asc"], "The newest first, or the oldest; `desc` when left out").pipe(
    Schema.withDecodingDefaultKey(Effect.succeed("desc" as const))
  ),
  status: Schema.optionalKey(oneOf(publicStates, "Only tasks in this state")),
  model: Schema.optionalKey(plainText().annotate({ description: "Only tasks of this model" })),
  created_after: Schema.optionalKey(
    Schema.String.annotate({ description: "Only tasks ordered after this ISO 8601 time" }).check(
      Schema.makeFilter(isTime, { expected: "an ISO 8601 time such as 2027-01-31T12:00:00Z" })
    )
  )
}

const deletedNames = {
  video: "DeletedVideo",
  image: "DeletedImages",
  speech: "DeletedSpeech"
} as const satisfies Record<TaskKind, string>

/** The `object` of a deleted task of each kind. */
export const deletedObjects = taskKinds.map((kind) => `${kind}.deleted` as const)

export const deletedTask = (kind: TaskKind) =>
  Schema.Struct({
    id: taskId,
    object: constant(`${kind}.deleted`, `Always \`${kind}.deleted\``),
    deleted: flag("Whether it was deleted")
  }).annotate({ identifier: deletedNames[kind] })

/** The header by which an order is answered with a task in place of its product. */
export const preferHeader = (product: string) =>
  Schema.optionalKey(
    text(
      `\`respond-async\` (RFC 7240): answered at once with a task to read; without it, with the ${product}`,
      "respond-async"
    )
  )

/** The fields that a task has only in lists. */
export const listEntryFields = {
  model: text("The model that was ordered"),
  created_at: Timestamp
}

/**
 * An event of a task: its current state, which is sent immediately, or its end, after which the
 * stream ends.
 */
export const taskEvent = <View extends Schema.Top>(
  kind: TaskKind,
  path: string,
  view: View,
  example: View["Type"]
) =>
  Schema.Struct({
    id: text("`1` while the task runs, `2` for its end; the same on every gateway", "1"),
    event: oneOf(
      [`${kind}.processing`, `${kind}.succeeded`, `${kind}.failed`],
      "The new state",
      `${kind}.processing`
    ),
    data: Schema.fromJsonString(view).annotate({
      description: `What \`GET ${path}\` answers, as JSON`,
      examples: [example]
    })
  })

export const CANCEL_DESCRIPTION =
  "Asks the task's vendor to cancel it, with a key of the member who ordered it, and answers with the " +
  "task. The hold is released when the vendor reports the end: then the task is `failed` with the code " +
  "`cancelled`. A task that goes on has `cancellation`, and one that has ended is answered as it ended."

export const EVENTS_DESCRIPTION =
  "Server-sent events: the present state of the task at once, and its last state when it ends, after " +
  "which the stream ends. Comments in between keep the connection open. A gateway that stops ends the " +
  "stream: reconnect with `Last-Event-ID`, as a browser's EventSource does by itself. The answer is " +
  "204 when the client has seen the last event."
