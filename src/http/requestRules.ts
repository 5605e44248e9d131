/** The live rules: media type and size before the body is read, shape when it is decoded. */
import { ByteSize, Context, Effect, Layer, Option, Result, Schedule, SchemaIssue } from "effect"
import {
  HttpIncomingMessage,
  HttpServerError,
  HttpServerRequest,
  type HttpServerResponse
} from "effect/http"
import { type HttpApiEndpoint, HttpApiError } from "effect/http-api"
import {
  InvalidRequest,
  Overloaded,
  PayloadTooLarge,
  UnsupportedMediaType
} from "../domain/Errors.ts"
import { Settings } from "../services/Settings.ts"
import { makeShares } from "../services/Shares.ts"
import { CurrentCaller } from "./api/Authorization.ts"
import { BodyLimit, Multipart, RequestRules } from "./api/RequestRules.ts"
import { errorResponse } from "./errorResponse.ts"
import { isShallowJson } from "./jsonDepth.ts"

/** Bodies are passed on, compared and described, so they must be such as anybody can walk over. */
const MAX_DEPTH = 64
/** Of the bytes of all bodies: so that one organisation leaves room for the others. */
const SHARE_OF_BODIES = 0.5
/** How often a body of unknown length looks for room, every 20 ms. */
const LOOKS_FOR_ROOM = 250
/** Whose bodies are counted together where no key is asked for. */
const OPERATOR = "operator"

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => {
    switch (issue._tag) {
      case "MissingKey":
        return "This field is required"
      case "UnexpectedKey":
        return "There is no such field"
      default:
        return SchemaIssue.defaultLeafHook(issue)
    }
  }
})

/** `content[0].image_url`, as a client would write it. */
const formatPath = (path: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }>): string =>
  path
    .map((segment) => (typeof segment === "object" ? segment.key : segment))
    .reduce<string>(
      (text, key) =>
        typeof key === "number"
          ? `${text}[${key}]`
          : text === ""
            ? String(key)
            : `${text}.${String(key)}`,
      ""
    )

/** Every fault of a request by path; the first one leads. */
export const invalidRequestOf = (issue: SchemaIssue.Issue): InvalidRequest => {
  const faults = formatIssue(issue).issues.map((issue) => ({
    path: formatPath(issue.path ?? []),
    message: issue.message
  }))
  const first = faults[0]
  const path = first === undefined || first.path === "" ? null : first.path
  const message =
    path === null && first?.message === "Expected object"
      ? "Expected a JSON object as the body"
      : (first?.message ?? "The request does not have the expected shape")
  return new InvalidRequest({
    message: path === null ? message : `${path}: ${message}`,
    param: path,
    ...(faults.length > 1 ? { faults } : {})
  })
}

/** Without its parameters. Decoders are found by these very types, so that no others may pass. */
const mediaType = (contentType: string): string =>
  contentType.split(";", 1)[0]?.trim().toLowerCase() ?? ""

const isJson = (contentType: string): boolean => mediaType(contentType) === "application/json"

const isForm = (contentType: string): boolean => mediaType(contentType) === "multipart/form-data"

const isTooLarge = (defect: unknown): boolean =>
  HttpServerError.isHttpServerError(defect) &&
  defect.reason._tag === "RequestParseError" &&
  defect.reason.reason === "BodyTooLarge"

const isUnreadable = (defect: unknown): boolean =>
  HttpServerError.isHttpServerError(defect) && defect.reason._tag === "RequestParseError"

const tooDeep = errorResponse(
  new InvalidRequest({ message: `The body may have at most ${MAX_DEPTH} levels` })
)

const bodiesInTheWay = errorResponse(
  new Overloaded({
    message:
      "Other requests' bodies take all the room there is for them; send this one again in a moment",
    retryAfterSeconds: 1
  })
)

export const layerRequestRules = Layer.effect(
  RequestRules,
  Effect.gen(function* () {
    const settings = yield* Settings
    const bodies = makeShares({
      each: Math.floor(settings.bodyBudgetBytes * SHARE_OF_BODIES),
      together: settings.bodyBudgetBytes
    })

    const ownerOf = Effect.map(Effect.serviceOption(CurrentCaller), (caller) =>
      Option.isSome(caller) ? caller.value.organizationId : OPERATOR
    )

    /**
     * A body of unknown length counts as the largest while it is read. Such ones wait for each other
     * a little, since most of them are small.
     */
    const readUnknown = (
      owner: string,
      request: HttpServerRequest.HttpServerRequest,
      limit: number
    ) =>
      Effect.gen(function* () {
        const hasRoom = yield* bodies.take(owner, limit).pipe(
          Effect.repeat({
            until: (taken) => taken,
            schedule: Schedule.spaced("20 millis"),
            times: LOOKS_FOR_ROOM
          })
        )
        return hasRoom ? (yield* Effect.orDie(request.arrayBuffer)).byteLength : null
      }).pipe(Effect.scoped)

    /** The room of a body is taken until the answer is sent. */
    const hasRoom = Effect.fnUntraced(function* (
      request: HttpServerRequest.HttpServerRequest,
      limit: number
    ) {
      const owner = yield* ownerOf
      const length = request.headers["content-length"]
      if (length !== undefined) return yield* bodies.take(owner, Number(length))
      if (isForm(request.headers["content-type"] ?? "")) return yield* bodies.take(owner, limit)
      const bytes = yield* readUnknown(owner, request, limit)
      return bytes !== null && (yield* bodies.take(owner, bytes))
    })

    const limitOf = (endpoint: HttpApiEndpoint.Top): number =>
      Context.getOrUndefined(endpoint.annotations, BodyLimit) === "media"
        ? settings.maxMediaBodyBytes
        : settings.maxBodyBytes

    const tooLarge = (limit: number) =>
      errorResponse(
        new PayloadTooLarge({ message: `The body of this request may have at most ${limit} bytes` })
      )

    /** What the headers alone forbid. */
    const checkHeaders = (
      request: HttpServerRequest.HttpServerRequest,
      limit: number,
      takesForms: boolean
    ) => {
      if (Number(request.headers["content-length"] ?? 0) > limit) {
        return Result.fail(tooLarge(limit))
      }
      const encoding = request.headers["content-encoding"]
      if (encoding !== undefined && encoding !== "identity") {
        return Result.fail(
          errorResponse(
            new UnsupportedMediaType({
              message: `Send the body without a content-encoding, not as ${JSON.stringify(encoding)}`
            })
          )
        )
      }
      const contentType = request.headers["content-type"]
      return contentType === undefined || isJson(contentType) || (takesForms && isForm(contentType))
        ? Result.succeed(undefined)
        : Result.fail(
            errorResponse(
              new UnsupportedMediaType({
                message: `Send the body as ${takesForms ? "application/json or multipart/form-data" : "application/json"}, not ${JSON.stringify(contentType)}`
              })
            )
          )
    }

    /** What the body forbids before it is decoded. */
    const answerShallow = <E, R>(
      handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
      request: HttpServerRequest.HttpServerRequest
    ) =>
      Effect.flatMap(Effect.orDie(request.arrayBuffer), (bytes) =>
        isShallowJson(Buffer.from(bytes), MAX_DEPTH) ? handler : Effect.succeed(tooDeep)
      )

    return RequestRules.of((handler, { endpoint }) => {
      const limit = limitOf(endpoint)
      const hasBody = endpoint.payload.size > 0
      const takesForms = Context.getOrUndefined(endpoint.annotations, Multipart) === true
      const guard = <E, R>(inner: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
        inner.pipe(
          Effect.catch((error) =>
            HttpApiError.HttpApiSchemaError.is(error)
              ? Effect.succeed(errorResponse(invalidRequestOf(error.cause.issue)))
              : Effect.fail(error)
          ),
          Effect.catchDefect((defect) => {
            if (isTooLarge(defect)) return Effect.succeed(tooLarge(limit))
            return isUnreadable(defect)
              ? Effect.succeed(
                  errorResponse(new InvalidRequest({ message: "The body could not be read" }))
                )
              : Effect.die(defect)
          }),
          Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(limit))
        )
      return hasBody
        ? guard(
            Effect.gen(function* () {
              const request = yield* HttpServerRequest.HttpServerRequest
              const refused = checkHeaders(request, limit, takesForms)
              if (Result.isFailure(refused)) return refused.failure
              if (!(yield* hasRoom(request, limit))) return bodiesInTheWay
              return yield* isForm(request.headers["content-type"] ?? "")
                ? handler
                : answerShallow(handler, request)
            })
          )
        : guard(handler)
    })
  })
)
