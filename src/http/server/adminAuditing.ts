/** The live audit of administrative writes: one place for all of them. */
import { Effect, Exit, Layer, Predicate, SchemaAST } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { storable } from "../../domain/plainText.ts"
import { AdminAudit } from "../../services/AdminAudit.ts"
import { AdminAuditing } from "../api/middlewares.ts"
import { CurrentRequest } from "./envelope.ts"

const secretFields: ReadonlySet<string> = new Set([
  "api_key",
  "app_id",
  "key",
  "secret",
  "token",
  "password"
])

const MAX_TEXT = 200
const MAX_ITEMS = 50

/** Statuses where nothing was answered: the client had gone, or the handler failed. */
const INTERRUPTED = 499
const FAILED = 500

/** Refused before the body was read, which may be large, no text at all, or too much for now. */
const unread: ReadonlySet<number> = new Set([413, 415, 503])

const scalar = (value: unknown): unknown =>
  typeof value === "string"
    ? storable(value.slice(0, MAX_TEXT))
    : typeof value === "number" || typeof value === "boolean" || value === null
      ? value
      : undefined

/** Lists of anything but texts and numbers are told by their length. */
const shown = (value: unknown): unknown => {
  if (!Array.isArray(value)) return scalar(value) === undefined ? "[object]" : scalar(value)
  const items = value.slice(0, MAX_ITEMS).map(scalar)
  return items.includes(undefined) || value.length > MAX_ITEMS ? `[${value.length} items]` : items
}

/** Fields the endpoint knows: what stands in any other may be a secret under a mistyped name. */
const knownFields = (endpoint: HttpApiEndpoint.Top): ReadonlySet<string> =>
  new Set(
    [...endpoint.payload.values()]
      .flatMap(({ schemas }) => schemas)
      .flatMap(({ ast }) => {
        const encoded = SchemaAST.toEncoded(ast)
        return SchemaAST.isObjects(encoded) ? encoded.propertySignatures : []
      })
      .flatMap(({ name }) => (typeof name === "string" && !secretFields.has(name) ? [name] : []))
  )

const fieldsOf = (known: ReadonlySet<string>, body: unknown): unknown =>
  Predicate.isObject(body)
    ? Object.fromEntries(
        Object.entries(body)
          .filter(([name]) => known.has(name))
          .map(([name, value]) => [name, shown(value)])
      )
    : null

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const isMade = (body: unknown): body is { readonly id: string } =>
  Predicate.hasProperty(body, "id") && typeof body.id === "string"

/** The id of what the answer shows. */
const madeId = ({ body }: HttpServerResponse.HttpServerResponse): string | null => {
  if (body._tag !== "Uint8Array") return null
  const answer = parse(body.text ?? new TextDecoder().decode(body.body))
  return isMade(answer) ? answer.id : null
}

export const layerAdminAuditing = Layer.effect(
  AdminAuditing,
  Effect.gen(function* () {
    const audit = yield* AdminAudit

    const record = Effect.fnUntraced(function* (
      endpoint: HttpApiEndpoint.Top,
      exit: Exit.Exit<HttpServerResponse.HttpServerResponse, unknown>
    ) {
      const request = yield* HttpServerRequest.HttpServerRequest
      const params = yield* HttpRouter.params
      const answer = Exit.isSuccess(exit) ? exit.value : null
      const status = answer?.status ?? (Exit.hasInterrupts(exit) ? INTERRUPTED : FAILED)
      const body =
        endpoint.payload.size === 0 || unread.has(status)
          ? null
          : yield* Effect.map(request.text, parse).pipe(Effect.orElseSucceed(() => null))
      yield* audit.record({
        action: endpoint.identifier,
        subjectId:
          params.id === undefined
            ? answer === null
              ? null
              : madeId(answer)
            : storable(params.id.slice(0, MAX_TEXT)),
        fields: fieldsOf(knownFields(endpoint), body),
        requestId: (yield* CurrentRequest).id,
        status
      })
    })

    return AdminAuditing.of((handler, { endpoint }) =>
      endpoint.method === "GET"
        ? handler
        : Effect.onExit(handler, (exit) =>
            record(endpoint, exit).pipe(
              Effect.catchCause((cause) =>
                Effect.logError("an administrative write could not be audited", cause).pipe(
                  Effect.annotateLogs({ action: endpoint.identifier })
                )
              )
            )
          )
    )
  })
)
