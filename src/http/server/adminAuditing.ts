/** The live audit of administrative writes: one place for all of them. */
import { Effect, Exit, Layer, Option, Schema, SchemaAST } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { auditedFields, auditedText } from "../../redaction/secretsFromAudit.ts"
import { AdminAudit } from "../../services/operators/AdminAudit.ts"
import { AdminAuditing, CurrentOperator } from "../api/middlewares.ts"
import { CurrentRequest } from "./envelope.ts"

/** Statuses where nothing was answered: the client had gone, or the handler failed. */
const INTERRUPTED = 499
const FAILED = 500

/** Refused before the body was read, which may be large, no text at all, or too much for now. */
const unread: ReadonlySet<number> = new Set([413, 415, 503])

/** Fields the endpoint knows, of its bodies or of a list's address. */
const knownFields = (endpoint: HttpApiEndpoint.Top): ReadonlySet<PropertyKey> =>
  new Set(
    [
      ...[...endpoint.payload.values()].flatMap(({ schemas }) => schemas),
      ...(endpoint.payload.has(LIST) && endpoint.query !== undefined ? [endpoint.query] : [])
    ]
      .flatMap(({ ast }) => {
        const encoded = SchemaAST.toEncoded(ast)
        return SchemaAST.isObjects(encoded) ? encoded.propertySignatures : []
      })
      .map(({ name }) => name)
  )

/** Of a list the audit keeps how it was to be read: that is no text, and was read as it came. */
const LIST = "text/csv"

/** What stands in the address behind the question mark. */
const askedIn = (url: string): Readonly<Record<string, string>> =>
  Object.fromEntries(new URLSearchParams(url.split("?", 2)[1] ?? ""))

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))
const decodeMade = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ id: Schema.String }))
)

/** The id of what the answer shows. */
const madeId = ({ body }: HttpServerResponse.HttpServerResponse): string | null => {
  if (body._tag !== "Uint8Array") return null
  const made = decodeMade(body.text ?? new TextDecoder().decode(body.body))
  return Option.isSome(made) ? made.value.id : null
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
      const operator = yield* CurrentOperator
      const answer = Exit.isSuccess(exit) ? exit.value : null
      const status = answer?.status ?? (Exit.hasInterrupts(exit) ? INTERRUPTED : FAILED)
      const body = endpoint.payload.has(LIST)
        ? Option.some(askedIn(request.url))
        : endpoint.payload.size === 0 || unread.has(status)
          ? Option.none()
          : Option.flatMap(yield* Effect.option(request.text), decodeJson)
      yield* audit.record({
        action: endpoint.identifier,
        subjectId: params.id === undefined ? answer && madeId(answer) : auditedText(params.id),
        fields: auditedFields(knownFields(endpoint), Option.getOrNull(body)),
        requestId: (yield* CurrentRequest).id,
        operatorId: operator.id,
        operatorName: operator.name,
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
