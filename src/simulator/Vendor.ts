import { ByteSize, Data, Effect, Option, Result, Schema, type SchemaIssue } from "effect"
import { type Headers, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Accounts } from "./Accounts.ts"
import type { MediaLinks } from "./Media.ts"
import { Requests } from "./Requests.ts"
import { refusedStatus, type Switches } from "./switches.ts"
import type { TaskApi, Tasks } from "./Tasks.ts"

/** An error response of a vendor, in the form of its protocol. */
export class Refusal extends Data.TaggedError("Refusal")<{
  readonly status: number
  readonly body: Schema.Json
  readonly headers?: Readonly<Record<string, string>>
}> {}

/** The services that the handlers of a vendor may use. */
export type Bench = Tasks | MediaLinks | HttpServerRequest.HttpServerRequest

/** A request whose key was accepted. */
export interface Call {
  readonly key: string
  /** The simulated faults of the account, which apply to every order. */
  readonly switches: Switches
  readonly headers: Headers.Headers
  readonly params: Readonly<Record<string, string | undefined>>
  readonly query: URLSearchParams
  /**
   * The JSON of the request without null fields, because vendors treat null as unset. Undefined
   * when there was no body or it could not be parsed as JSON.
   */
  readonly body: unknown
}

export interface VendorRoute {
  /** The HTTP method; `*` matches all. */
  readonly method: "GET" | "POST" | "PUT" | "DELETE" | "*"
  /** The path below the protocol's segment. */
  readonly path: `/${string}`
  readonly handle: (
    call: Call
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, Refusal, Bench>
}

/**
 * The part of a vendor that accepts orders of one protocol: the vendor itself, or one family of a
 * relay in front of several vendors.
 */
export interface Desk extends TaskApi {
  /** The desk's generic error for a status of 400 or above. */
  readonly refuse: (status: number) => Refusal
  /** The vendor's error for an input that its moderation refuses. */
  readonly moderatedInput: () => Refusal
}

/**
 * One protocol as its vendor serves it. Every protocol has one file, and all these files have the
 * same sections in the same order: wire schemas, refusals, checks, lifecycle of a job, answers,
 * calls, and the vendor itself.
 */
export interface Vendor extends Pick<Desk, "protocol" | "refuse"> {
  /** The key of a request, or the vendor's authentication error. */
  readonly authenticate: (
    headers: Headers.Headers,
    query: URLSearchParams
  ) => Result.Result<string, Refusal>
  readonly routes: ReadonlyArray<VendorRoute>
}

/** Maximum body size, which is larger than the largest inline image that a vendor accepts. */
const maxBody = ByteSize.mebibytes(64)

/** The key that every vendor refuses. */
const refusedKey = "bad-key"

export type KeyProblem = "missing" | "scheme" | "unknown"

/** Reads `Authorization: <scheme> <key>`. Every key is valid except the refused one. */
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
  return plainKeyOf(key, refuse)
}

/** Reads a header that is the key alone. */
export const plainKeyOf = (
  header: string | undefined,
  refuse: (problem: KeyProblem) => Refusal
): Result.Result<string, Refusal> => {
  const key = header?.trim() ?? ""
  if (key === "") return Result.fail(refuse("missing"))
  return key === refusedKey ? Result.fail(refuse("unknown")) : Result.succeed(key)
}

/** Model ids with this prefix are unknown to every vendor. */
const missingModelPrefix = "missing-"

export const isMissingModel = (model: string): boolean => model.startsWith(missingModelPrefix)

/** The schema of a field that the vendor refuses, although it ignores unknown fields. */
export const refusedField = Schema.optionalKey(Schema.Never)

/** The first fault of a body. */
export interface BodyFault {
  /** The path of the field, such as `content[0].image_url.url`; empty for the body itself. */
  readonly path: string
  readonly problem: "missing" | "unexpected" | "invalid"
}

/** Decodes a body. On a fault, fails with the error that `refuse` returns for the first one. */
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
  return (body) =>
    Effect.mapError(decode(body), ({ issue }) => options.refuse(faultOfSchema(issue)))
}

/** The first fault of a value that a schema refuses. */
export const faultOfSchema = (issue: SchemaIssue.Issue): BodyFault => faultOf(issue, "")

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
 * The routes of each vendor under `/<protocol>`. Every request is recorded first; then its key and
 * the simulated faults of its account are checked. A path that the vendor does not have gets the
 * vendor's 404.
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
            const key = yield* Effect.fromResult(
              vendor.authenticate(request.headers, url.searchParams)
            )
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

/** A form converted to equivalent JSON: files become data URLs, and `name[]` becomes a list. */
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
        const firstValue = fields.get(name)
        fields.set(name, name.endsWith("[]") ? [...(firstValue ?? []), value] : value)
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
