/**
 * Enforces the rules of every body: media type and size before the body is read, the amount of JSON
 * while it is read, and the schema when it is decoded.
 */
import {
  ByteSize,
  Context,
  Effect,
  Layer,
  Option,
  Result,
  Schema,
  type SchemaAST,
  type SchemaIssue,
  type Types
} from "effect"
import {
  HttpIncomingMessage,
  HttpServerError,
  HttpServerRequest,
  type HttpServerResponse
} from "effect/http"
import { HttpApiError } from "effect/http-api"
import {
  type GatewayError,
  InvalidRequest,
  isGatewayError,
  UnsupportedMediaType
} from "../../domain/Errors.ts"
import { issueFaults } from "../../domain/requestFields.ts"
import { Settings } from "../../runtime/Settings.ts"
import {
  ArrayNumbers,
  BodyLimit,
  CurrentCaller,
  DecodesBody,
  KeepsFiles,
  RequestForm,
  RequestJson,
  RequestRules
} from "../api/middlewares.ts"
import { bodyTooLarge, MAX_TEXTS_BYTES, makeBodies, unreadableBody } from "./bodies.ts"
import { errorResponse } from "./errorResponse.ts"
import { readForm } from "./formBody.ts"
import { notJson, notJsonAt } from "./jsonBody.ts"

/** The maximum number of faults that an error lists. */
const MAX_FAULTS = 20

/**
 * The limits of customers' JSON bodies. A body is traversed several times, to be validated,
 * compared and forwarded, and other requests wait meanwhile.
 */
const customerBounds = { levels: 64, values: 50_000, otherBytes: 8 * 1024 * 1024 }
/** The limits of operators, who are trusted with bodies that take longer to traverse. */
const operatorBounds = {
  ...customerBounds,
  values: 1_000_000,
  otherBytes: Number.POSITIVE_INFINITY
}

/**
 * The error that lists the faults of a request, each with its path. The error message begins with
 * the first fault.
 */
const invalidRequestOf = (issue: SchemaIssue.Issue): InvalidRequest => {
  const faults = issueFaults(issue).slice(0, MAX_FAULTS)
  const first = faults[0]
  const path = first === undefined || first.path === "" ? null : first.path
  const isOfShape = first?.message.startsWith("Expected ")
  const message =
    path === null && isOfShape
      ? "Expected a JSON object as the body"
      : (first?.message ?? "The request does not have the expected shape")
  return new InvalidRequest({
    message: path === null ? message : `${path}: ${message}`,
    param: path,
    ...(faults.length > 1 ? { faults } : {})
  })
}

/** Decodes a body as the contract does. */
export const decodeBody = <S extends Schema.Top & { readonly DecodingServices: never }>(
  schema: S,
  options: SchemaAST.ParseOptions = {}
): ((body: unknown) => Effect.Effect<S["Type"], InvalidRequest>) => {
  // This is the same construction as in the contract's own decoder, so that both report an invalid
  // body in the same way.
  const decode = Schema.decodeUnknownResult(Schema.Union([Schema.toCodecJson(schema)]), options)
  return (body) =>
    Effect.fromResult(Result.mapError(decode(body), ({ issue }) => invalidRequestOf(issue)))
}

/** The decoded body of the request. */
export const bodyOf = <S extends Schema.Top & { readonly DecodingServices: never }>(
  schema: S,
  options: SchemaAST.ParseOptions = {}
) => {
  const decode = decodeBody(schema, options)
  return RequestJson.pipe(Effect.flatten, Effect.flatMap(decode))
}

/** The media type without its parameters, by which the contract selects a decoder. */
const mediaType = (contentType: string): string =>
  contentType.split(";", 1)[0]?.trim().toLowerCase() ?? ""

const JSON_TYPE = "application/json"
const FORM = "multipart/form-data"
const LIST = "text/csv"

const isForm = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  mediaType(headers["content-type"] ?? "") === FORM

/**
 * The error for a body that could not be read, made from the defect with which the handler died;
 * null for other defects.
 */
const readFaultOf = (defect: unknown, limit: number): GatewayError | null => {
  if (!HttpServerError.isHttpServerError(defect)) return null
  const { reason } = defect
  if (reason._tag !== "RequestParseError") return null
  return reason.reason === "BodyTooLarge" ? bodyTooLarge(limit) : unreadableBody
}

/**
 * The request with its size-limited body in memory, for the contract's own decoder. Everything else
 * is inherited from the original request, because `modify` of a request cannot replace its body. To
 * inherit from a request takes longer than to decode a short body.
 */
const withText = (
  request: HttpServerRequest.HttpServerRequest,
  text: Effect.Effect<string>
): HttpServerRequest.HttpServerRequest => Object.create(request, { text: { value: text } })

/** Whether the contract's own decoder found that a body is not JSON. It does not say where. */
const isNotJson = (error: unknown): boolean =>
  HttpApiError.HttpApiSchemaError.is(error) &&
  issueFaults(error.cause.issue)[0]?.message === notJson.message

/**
 * Answers three kinds of faults: the handler's errors, the contract's refusals of a request, and
 * bodies that could not be read.
 */
const answerFaults = <R>(
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, GatewayError | Types.unhandled, R>,
  limit: number
) =>
  handler.pipe(
    Effect.catch((error) => {
      if (isGatewayError(error)) return Effect.succeed(errorResponse(error))
      return HttpApiError.HttpApiSchemaError.is(error)
        ? Effect.succeed(errorResponse(invalidRequestOf(error.cause.issue)))
        : Effect.fail(error)
    }),
    Effect.catchDefect((defect) => {
      const readFault = readFaultOf(defect, limit)
      return readFault === null ? Effect.die(defect) : Effect.succeed(errorResponse(readFault))
    })
  )

const withoutJson = Effect.provideService(RequestJson, Effect.succeed(undefined))
const withoutForm = Effect.provideService(RequestForm, null)

export const layerRequestRules = Layer.effect(
  RequestRules,
  Effect.gen(function* () {
    const settings = yield* Settings
    const bodies = makeBodies(settings.bodyBudgetBytes)
    const limits = {
      media: settings.maxMediaBodyBytes,
      texts: Math.min(MAX_TEXTS_BYTES, settings.maxMediaBodyBytes),
      list: settings.maxListBytes,
      small: settings.maxBodyBytes
    }

    return RequestRules.of((handler, { endpoint }) => {
      const { annotations } = endpoint
      const limit = limits[Context.getOrUndefined(annotations, BodyLimit) ?? "small"]
      const takesForms = endpoint.payload.has(FORM)
      const takesLists = endpoint.payload.has(LIST)
      const mainType = takesLists ? LIST : JSON_TYPE
      const types = takesForms ? `${mainType} or ${FORM}` : mainType
      const keepsFiles = Context.getOrUndefined(annotations, KeepsFiles) ?? false
      const maxBytes = takesForms && !keepsFiles ? limits.texts : limit
      const arrayNumbers = Context.getOrUndefined(annotations, ArrayNumbers) ?? 0
      const decodesBody = Context.getOrUndefined(annotations, DecodesBody) ?? false

      /** Limits Effect's own body readers. */
      const withSizeLimit = Effect.provideService(
        HttpIncomingMessage.MaxBodySize,
        ByteSize.bytes(limit)
      )

      const withForm = Effect.fnUntraced(function* (
        request: HttpServerRequest.HttpServerRequest,
        organizationId: string | null
      ) {
        const reserve = keepsFiles ? yield* bodies.reserveStoredForm(organizationId) : null
        if (reserve === null) yield* bodies.reserveSkippedForm(organizationId)
        const form = readForm(request, { maxBytes: limit, reserve })
        return yield* handler.pipe(
          withoutJson,
          Effect.provideService(RequestForm, form),
          withSizeLimit
        )
      })

      const formless = withoutForm(handler)
      const boundsOfCustomers = { ...customerBounds, arrayNumbers, maxBytes }
      const boundsOfOperators = { ...operatorBounds, arrayNumbers, maxBytes }

      const withJson = (
        request: HttpServerRequest.HttpServerRequest,
        organizationId: string | null
      ) => {
        const readBody =
          organizationId === null
            ? withSizeLimit(bodies.read(null, request, boundsOfOperators))
            : bodies.read(organizationId, request, boundsOfCustomers)
        return Effect.flatMap(readBody, ({ json, text }) => {
          const handledRequest = Effect.provideService(formless, RequestJson, json)
          return decodesBody
            ? handledRequest
            : handledRequest.pipe(
                Effect.provideService(HttpServerRequest.HttpServerRequest, withText(request, text)),
                Effect.catchIf(isNotJson, () =>
                  Effect.flatMap(text, (body) => Effect.fail(notJsonAt(body)))
                )
              )
        })
      }

      /** The refusal of the body by the headers of its request; null for acceptable headers. */
      const refusalOf = (request: HttpServerRequest.HttpServerRequest) => {
        const {
          "content-length": length = 0,
          "content-encoding": encoding = "identity",
          "content-type": type = mainType
        } = request.headers
        if (Number(length) > limit) return bodyTooLarge(limit)
        if (encoding !== "identity") {
          return new UnsupportedMediaType({
            message: `Send the body without a content-encoding, not as ${JSON.stringify(encoding)}`
          })
        }
        return mediaType(type) === mainType || (takesForms && isForm(request))
          ? null
          : new UnsupportedMediaType({
              message: `Send the body as ${types}, not ${JSON.stringify(type)}`
            })
      }

      /**
       * Runs the handler with the body, if the headers, the size of the body and the memory budget
       * allow it.
       */
      const withBody = Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const refusal = refusalOf(request)
        if (refusal !== null) return yield* refusal
        // A list is streamed by its handler and never completely in memory.
        if (takesLists) return yield* withSizeLimit(withoutForm(withoutJson(handler)))
        // Routes of operators have no caller, and so no organisation.
        const caller = Option.getOrNull(yield* Effect.serviceOption(CurrentCaller))
        const organizationId = caller?.organizationId ?? null
        return yield* isForm(request)
          ? withForm(request, organizationId)
          : withJson(request, organizationId)
      })
      return answerFaults(
        endpoint.payload.size > 0 ? withBody : withoutForm(withoutJson(handler)),
        limit
      )
    })
  })
)
