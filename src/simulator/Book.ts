import { appendFileSync, existsSync, mkdirSync, readFileSync, truncateSync } from "node:fs"
import { dirname } from "node:path"
import { Clock, Context, Data, Effect, Layer, Option, Schema } from "effect"

const Count = Schema.Int

const Subject = {
  protocol: Schema.String,
  kind: Schema.Literals(["video", "image", "text"]),
  upstream_id: Schema.String,
  model: Schema.String
}

const Stamp = {
  /** The sequence number; it starts at 1 and has no gaps. */
  seq: Schema.Int,
  /** The time of the entry in ISO 8601, UTC. */
  at: Schema.String
}

/**
 * The fields of an order, with the vendor's defaults filled in; a field is null where this kind of
 * order does not have it.
 */
export const Order = Schema.Struct({
  /** The ordered length; -1 where the model chooses it. */
  seconds: Schema.NullOr(Schema.Int),
  resolution: Schema.NullOr(Schema.String),
  ratio: Schema.NullOr(Schema.String),
  n: Schema.NullOr(Schema.Int),
  size: Schema.NullOr(Schema.String),
  inputs: Schema.Struct({ images: Count, videos: Count, audios: Count }),
  generate_audio: Schema.NullOr(Schema.Boolean),
  prompt_sha256: Schema.String
})
export interface Order extends Schema.Schema.Type<typeof Order> {}

/** A paid job that the vendor accepted. */
export const AcceptedEntry = Schema.Struct({
  ...Stamp,
  event: Schema.Literal("accepted"),
  ...Subject,
  /** For an order at a relay: the protocol of the vendor behind the relay. */
  family: Schema.optionalKey(Schema.String),
  /** The last four characters of the key; empty for a key of at most four characters. */
  key_hint: Schema.String,
  order: Order,
  /** The client's id of the order, on protocols that have such a field. */
  client_token: Schema.NullOr(Schema.String),
  switches: Schema.Record(Schema.String, Schema.String),
  /** Request fields that the protocol repeats in later responses. */
  echo: Schema.Record(Schema.String, Schema.Json)
})
export interface AcceptedEntry extends Schema.Schema.Type<typeof AcceptedEntry> {}

/**
 * The output of a job as the vendor counts it, which may differ from the usage in its responses. An
 * amount is null where the vendor does not count it for this kind of job.
 */
export const Product = Schema.Struct({
  seconds: Schema.NullOr(Schema.Int),
  images: Schema.NullOr(Schema.Int),
  completion_tokens: Schema.NullOr(Schema.Int)
})
export interface Product extends Schema.Schema.Type<typeof Product> {}

/** The end of an accepted job; at most one per job. */
export const EndedEntry = Schema.Struct({
  ...Stamp,
  event: Schema.Literals(["succeeded", "failed", "cancelled", "expired"]),
  ...Subject,
  /** Why the job did not succeed; null when it did. */
  reason: Schema.NullOr(
    Schema.Literals(["internal", "moderated", "unusable", "cancelled", "expired"])
  ),
  produced: Product
})
export interface EndedEntry extends Schema.Schema.Type<typeof EndedEntry> {}

export const BookEntry = Schema.Union([AcceptedEntry, EndedEntry])
export type BookEntry = typeof BookEntry.Type

/** A line of the book file that is not a book entry, or a file that cannot be read. */
export class BookUnreadable extends Data.TaggedError("BookUnreadable")<{
  readonly path: string
  readonly cause: unknown
}> {
  override get message(): string {
    return `The book ${this.path} cannot be read`
  }
}

type NewEntry<E> = Omit<E, "seq" | "at">

const LineEntry = Schema.fromJsonString(BookEntry)

/** The vendors' own record of paid work: entries are appended, never changed. */
export class Book extends Context.Service<
  Book,
  {
    readonly entries: Effect.Effect<ReadonlyArray<BookEntry>>
    /** Adds an entry, and returns after it is written to the file, if there is one. */
    recordAccepted(entry: NewEntry<AcceptedEntry>): Effect.Effect<AcceptedEntry>
    recordEnded(entry: NewEntry<EndedEntry>): Effect.Effect<EndedEntry>
  }
>()("gateway/simulator/Book") {
  /**
   * With a path, the file's entries of earlier runs come first, and new ones are appended to the
   * file.
   */
  static readonly layer = (path: string | undefined) =>
    Layer.effect(
      Book,
      Effect.gen(function* () {
        const entries: Array<BookEntry> = path === undefined ? [] : yield* readBook(path)
        const stamp = Effect.map(Clock.currentTimeMillis, (now) => ({
          seq: entries.length + 1,
          at: new Date(now).toISOString()
        }))
        const append = <E extends BookEntry>(entry: E): E => {
          if (path !== undefined) appendFileSync(path, `${JSON.stringify(entry)}\n`)
          entries.push(entry)
          return entry
        }
        return Book.of({
          entries: Effect.sync(() => [...entries]),
          recordAccepted: (entry) => Effect.map(stamp, (at) => append({ ...at, ...entry })),
          recordEnded: (entry) => Effect.map(stamp, (at) => append({ ...at, ...entry }))
        })
      })
    )
}

const readBook = (path: string): Effect.Effect<Array<BookEntry>, BookUnreadable> =>
  Effect.try({
    try: () => {
      mkdirSync(dirname(path), { recursive: true })
      if (!existsSync(path)) return []
      const text = readFileSync(path, "utf8")
      const completeLines = text.slice(0, text.lastIndexOf("\n") + 1)
      // A process that was killed during a write leaves an incomplete line. It is removed, because
      // the vendor never responded to its order.
      if (completeLines.length < text.length) truncateSync(path, Buffer.byteLength(completeLines))
      return completeLines
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => Schema.decodeUnknownSync(LineEntry)(line))
    },
    catch: (cause) => new BookUnreadable({ path, cause })
  })

/** The entry's time in milliseconds since 1970. */
export const millisOf = (entry: { readonly at: string }): number => Date.parse(entry.at)

/** The accepted entries of a book by upstream id, each with its end entry if it has one. */
export const jobsOf = (
  entries: ReadonlyArray<BookEntry>
): ReadonlyMap<string, readonly [AcceptedEntry, Option.Option<EndedEntry>]> => {
  const jobs = new Map<string, readonly [AcceptedEntry, Option.Option<EndedEntry>]>()
  for (const entry of entries) {
    if (entry.event === "accepted") {
      jobs.set(entry.upstream_id, [entry, Option.none()])
      continue
    }
    const job = jobs.get(entry.upstream_id)
    if (job !== undefined) jobs.set(entry.upstream_id, [job[0], Option.some(entry)])
  }
  return jobs
}
