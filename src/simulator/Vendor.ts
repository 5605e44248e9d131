import { ByteSize, Data, Effect, Option, Result, Schema, type SchemaIssue } from "effect"
import { type Headers, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Accounts } from "./Accounts.ts"
import type { MediaLinks } from "./Media.ts"
import { Requests } from "./Requests.ts"
import { refusedStatus, type Switches } from "./switches.ts"
import type { Place, Tasks } from "./Tasks.ts"

/** An answer that is a vendor's error, in the form of its protocol. */
export class Refusal extends Data.TaggedError("Refusal")<{
  readonly status: number
  readonly body: Schema.Json
  readonly headers?: Readonly<Record<string, string>>
}> {}

/** What the handlers of a vendor may use. */
export type Bench = Tasks | MediaLinks | HttpServerRequest.HttpServerRequest

/** A request whose key was accepted. */
export interface Call {
  readonly key: string
  /** What goes wrong for the account, whatever is ordered. */
  readonly switches: Switches
  readonly headers: Headers.Headers
  readonly params: Readonly<Record<string, string | undefined>>
  readonly query: URLSearchParams
  /**
   * The JSON sent, without fields that are null: vendors take those for unset. Undefined when there
   * was none or it could not be read as JSON.
   */
  readonly body: unknown
}

export interface VendorRoute {
  /** `*` is any method. */
  readonly method: "GET" | "POST" | "DELETE" | "*"
  /** Without the protocol in front. */
  readonly path: `/${string}`
  readonly handle: (
    call: Call
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, Refusal, Bench>
}

/** Takes the orders of a protocol: its own vendor, or one family of a relay in front of vendors. */
export interface Desk extends Place {
  /** The desk's error for a status of 400 or above that has no more special cause. */
  readonly refuse: (status: number) => Refusal
  /** The vendor's error for an input it will not work on. */
  readonly moderatedInput: () => Refusal
}

/**
 * One protocol as its vendor serves it. Every protocol has one file in the same order: wire schemas,
 * refusals, checks, lifecycle of a job, answers, calls, and the vendor itself.
 */
export interface Vendor extends Pick<Desk, "protocol" | "refuse"> {
  /** The key of a request, or the vendor's authentication error. */
  readonly authenticate: (headers: Headers.Headers) => Result.Result<string, Refusal>
  readonly routes: ReadonlyArray<VendorRoute>
}

/** Room for the largest inline image a vendor takes, and some more. */
const maxBody = ByteSize.mebibytes(64)

/** The key every vendor refuses. */
const refusedKey = "bad-key"

export type KeyProblem = "missing" | "scheme" | "unknown"

/** Reads `Authorization: <scheme> <key>`; any key but the refused one is good. */
export const keyOf = (
  headers: Headers.Headers,
  scheme: string,
  refuse: (problem: KeyProblem) => Refusal
): Result.Result<string, Refusal> => {
  const header = headers.authorization?.trim() ?? ""
  if (header === "") return Result.fail(refuse("missing"))
  const [sentScheme = "", key = "", ...extraParts] = header.split(/ +/)
  if (sentScheme.toLowerCase() !== scheme.toLowerCase() || extraParts.length > 0) {
    return Result.fail(refuse("scheme"))
  }
  if (key === "") return Result.fail(refuse("missing"))
  return key === refusedKey ? Result.fail(refuse("unknown")) : Result.succeed(key)
}

/** Model ids with this prefix are unknown to every vendor. */
const missingModelPrefix = "missing-"

export const isMissingModel = (model: string): boolean => model.startsWith(missingModelPrefix)

/** A field that the vendor refuses by its name, although it ignores those it does not know. */
export const refusedField = Schema.optionalKey(Schema.Never)

/** The first thing wrong with a body. */
export interface BodyFault {
  /** As in `content[0].image_url.url`; empty for the body itself. */
  readonly path: string
  readonly problem: "missing" | "unexpected" | "invalid"
}

/** Decodes a body, or fails with what `refuse` makes of its first fault. */
export const decodeBody = <A, I>(
  schema: Schema.Codec<A, I>,
  options: {
    readonly unknownFields: "ignored" | "refused"
    readonly refuse: (fault: BodyFault) => Refusal
  }
): ((body: unknown) => Effect.Effect<A, Refusal>) => {
  const decode = Schema.decodeUnknownEffect(schema, {
    onExcessProperty: options.unknownFields === "refused" ? "error" : "ignore"
  })
  return (body) => Effect.mapError(decode(body), ({ issue }) => options.refuse(faultOf(issue, "")))
}

const faultOf = (issue: SchemaIssue.Issue, path: string): BodyFault => {
  switch (issue._tag) {
    case "Filter":
    case "Encoding":
      return faultOf(issue.issue, path)
    case "Pointer":
      return faultOf(issue.issue, issue.path.reduce(join, path))
    case "Composite":
    case "AnyOf": {
      const first = issue.issues[0]
      return first === undefined ? { path, problem: "invalid" } : faultOf(first, path)
    }
    case "MissingKey":
      return { path, problem: "missing" }
    case "UnexpectedKey":
      return { path, problem: "unexpected" }
    case "InvalidType":
      return { path, problem: issue.ast._tag === "Never" ? "unexpected" : "invalid" }
    default:
      return { path, problem: "invalid" }
  }
}

const join = (path: string, key: PropertyKey): string => {
  if (typeof key === "number") return `${path}[${key}]`
  return path === "" ? String(key) : `${path}.${String(key)}`
}

/**
 * The routes of each vendor under its `/<protocol>`. Every request is recorded as it came, then its
 * key is checked, and the trouble its account is in; a path the vendor does not have answers its 404.
 */
export const layerVendors = (vendors: ReadonlyArray<Vendor>) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const bench = yield* Effect.context<Exclude<Bench, HttpServerRequest.HttpServerRequest>>()
      const requests = yield* Requests
      const accounts = yield* Accounts

      const serve = (vendor: Vendor, handle: VendorRoute["handle"]) =>
        Effect.fnUntraced(
          function* (request: HttpServerRequest.HttpServerRequest) {
            const url = new URL(request.originalUrl, "http://vendor.invalid")
            const isForm = /^multipart\/form-data\b/i.test(request.headers["content-type"] ?? "")
            const text = isForm
              ? yield* Effect.mapError(formText(request), () => vendor.refuse(400))
              : yield* Effect.mapError(request.text, () => vendor.refuse(413))
            const body = parseJson(text)
            yield* requests.record({
              protocol: vendor.protocol,
              method: request.method,
              path: url.pathname,
              query: Object.fromEntries(url.searchParams),
              headers: { ...request.headers },
              body: Option.getOrElse(body, () => (text === "" ? null : text))
            })
            const key = yield* Effect.fromResult(vendor.authenticate(request.headers))
            const switches = yield* accounts.switchesOf(key)
            const status = refusedStatus(switches)
            if (status !== undefined) return yield* vendor.refuse(status)
            return yield* handle({
              key,
              switches,
              headers: request.headers,
              params: yield* HttpRouter.params,
              query: url.searchParams,
              body: Option.getOrUndefined(Option.map(body, withoutNulls))
            })
          },
          Effect.provideContext(bench),
          Effect.provideService(HttpServerRequest.MaxBodySize, maxBody),
          Effect.catchTag("Refusal", ({ status, body, headers = {} }) =>
            Effect.succeed(HttpServerResponse.jsonUnsafe(body, { status, headers }))
          )
        )

      for (const vendor of vendors) {
        for (const { method, path, handle } of vendor.routes) {
          yield* router.add(method, `/${vendor.protocol}${path}`, serve(vendor, handle))
        }
        const noRoute = serve(vendor, () => Effect.fail(vendor.refuse(404)))
        yield* router.add("*", `/${vendor.protocol}/*`, noRoute)
      }
    })
  )

/** A form as the JSON that says the same: files are data URLs, and `name[]` is a list. */
const formText = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.flatMap(request.arrayBuffer, (bytes) =>
    Effect.tryPromise(async () => {
      const headers = { "content-type": request.headers["content-type"] ?? "" }
      const form = await new Response(bytes, { headers }).formData()
      const fields = new Map<string, string | ReadonlyArray<string>>()
      for (const [name, part] of form) {
        const value =
          typeof part === "string"
            ? part
            : `data:${part.type};base64,${Buffer.from(await part.arrayBuffer()).toString("base64")}`
        const earlierValue = fields.get(name)
        fields.set(name, name.endsWith("[]") ? [...(earlierValue ?? []), value] : value)
      }
      return JSON.stringify(Object.fromEntries(fields))
    })
  )

const parseJson = (text: string): Option.Option<Schema.Json> =>
  Schema.decodeOption(Schema.fromJsonString(Schema.Json))(text)

const withoutNulls = (value: Schema.Json): Schema.Json => {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (value === null || typeof value !== "object") return value
  const presentFields = Object.entries(value).filter(([, field]) => field !== null)
  return Object.fromEntries(presentFields.map(([name, field]) => [name, withoutNulls(field)]))
}
