/** Audits every administrative write, in a single middleware. */
import { Effect, Exit, Layer, Option, Schema, SchemaAST } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { auditedFields, auditedText } from "../../redaction/secretsFromAudit.ts"
import { AdminAudit } from "../../services/operators/AdminAudit.ts"
import { AdminAuditing, CurrentOperator } from "../api/middlewares.ts"
import { CurrentRequest } from "./envelope.ts"

/**
 * The audited statuses of requests without an answer: the client had disconnected, or the handler
 * failed.
 */
const INTERRUPTED = 499
const FAILED = 500

/**
 * The statuses of requests whose body was not read: too large, of a wrong type, or beyond the
 * memory budget.
 */
const unreadBodyStatuses: ReadonlySet<number> = new Set([413, 415, 503])

/** The field names of the endpoint's bodies, or of the query of a list. */
const knownFields = (endpoint: HttpApiEndpoint.Top): ReadonlySet<PropertyKey> =>
  new Set(
    [
      ...[...endpoint.payload.values()].flatMap(({ schemas }) => schemas),
      ...(endpoint.payload.has(LIST) && endpoint.query !== undefined ? [endpoint.query] : [])
    ]
      .flatMap(({ ast }) => {
        const encodedAst = SchemaAST.toEncoded(ast)
        return SchemaAST.isObjects(encodedAst) ? encodedAst.propertySignatures : []
      })
      .map(({ name }) => name)
  )

/**
 * The media type of lists. Lists are streamed, so the audit records their query in place of the
 * body.
 */
const LIST = "text/csv"

const queryOf = (url: string): Readonly<Record<string, string>> =>
  Object.fromEntries(new URLSearchParams(url.split("?", 2)[1] ?? ""))

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))
const decodeCreated = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ id: Schema.String }))
)

/** The id of the entry that a request created, taken from the answer. */
const createdId = ({ body }: HttpServerResponse.HttpServerResponse): string | null => {
  if (body._tag !== "Uint8Array") return null
  const createdRecord = decodeCreated(body.text ?? new TextDecoder().decode(body.body))
  return Option.isSome(createdRecord) ? createdRecord.value.id : null
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
        ? Option.some(queryOf(request.url))
        : endpoint.payload.size === 0 || unreadBodyStatuses.has(status)
          ? Option.none()
          : Option.flatMap(yield* Effect.option(request.text), decodeJson)
      yield* audit.record({
        action: endpoint.identifier,
        subjectId: params.id === undefined ? answer && createdId(answer) : auditedText(params.id),
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
                Effect.logError("audit: recording an administrative write failed", cause).pipe(
                  Effect.annotateLogs({ action: endpoint.identifier })
                )
              )
            )
          )
    )
  })
)
