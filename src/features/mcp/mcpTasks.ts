/**
 * Video orders as tasks of the protocol's extension `io.modelcontextprotocol/tasks`. A task is the
 * order itself: its id is the order's, and every gateway reads it from the database.
 */
import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode
} from "@modelcontextprotocol/server"
import { Effect, Predicate } from "effect"
import { type GatewayError, TaskNotFound } from "../../domain/Errors.ts"
import { millisOfId, taskNamed } from "../../domain/orderIds.ts"
import { cancelledByVendor } from "../../domain/taskAnswers.ts"
import { CurrentCaller } from "../../http/api/middlewares.ts"
import { errorBody } from "../../http/server/errorResponse.ts"
import { type OrderAnswers, scopesOfKind } from "./orderAnswers.ts"
import type { RequestServices } from "./toolAnswers.ts"
import type { Json } from "./toolSchemas.ts"

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks"

/** Whether the capabilities of a client, which it declares with each request, have the extension. */
export const supportsTasks = (capabilities: unknown): boolean =>
  Predicate.hasProperty(capabilities, "extensions") &&
  Predicate.hasProperty(capabilities.extensions, TASKS_EXTENSION)

/** The error for a request about tasks by a client that does not declare the extension. */
export const missingTasks = () =>
  new MissingRequiredClientCapabilityError({
    requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } }
  })

const isoOf = (millis: number): string => new Date(millis).toISOString()

/** The task of an order that the vendor has just accepted, or of an earlier one. */
export const workingTask = (
  id: string,
  nowMillis: number,
  { pollMillis, isReplay }: { readonly pollMillis: number; readonly isReplay: boolean }
) => ({
  resultType: "task",
  content: [],
  taskId: id,
  status: "working",
  statusMessage: isReplay
    ? "This call repeats an earlier one, whose order this is"
    : "The video is ordered",
  createdAt: isoOf(millisOfId(id)),
  lastUpdatedAt: isoOf(nowMillis),
  // Tasks are kept with the books, until an operator removes those of closed months.
  ttlMs: null,
  pollIntervalMs: pollMillis
})

/** The error of the protocol for an error of the gateway. */
export const protocolErrorOf = (error: GatewayError): ProtocolError => {
  const isOfParams = error._tag === "task_not_found" || error._tag === "permission_denied"
  const code = isOfParams ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError
  return new ProtocolError(code, error.message, errorBody(error))
}

export const makeMcpTasks = ({ read, cancel, answer, readers }: OrderAnswers) => {
  /** The kind of a task that the key may read. An id of another kind is as unknown as any other. */
  const kindOf = Effect.fnUntraced(function* (taskId: string) {
    const { scopes } = yield* CurrentCaller
    const name = taskNamed(taskId)
    if (name === null || !scopes.has(scopesOfKind[name.kind])) {
      return yield* new TaskNotFound({ message: `No task is called ${JSON.stringify(taskId)}` })
    }
    return name.kind
  })

  const asProtocolErrors = <A, R>(effect: Effect.Effect<A, GatewayError, R>) =>
    Effect.mapError(effect, protocolErrorOf)

  return {
    get: (taskId: string): Effect.Effect<Json, ProtocolError, RequestServices> =>
      asProtocolErrors(
        Effect.gen(function* () {
          const kind = yield* kindOf(taskId)
          const readResult = yield* read(kind, taskId, 0)
          const { task } = readResult
          const createdAt = isoOf(millisOfId(task.id))
          const common = {
            resultType: "complete",
            taskId,
            createdAt,
            lastUpdatedAt: task.finishedAt?.toISOString() ?? createdAt,
            ttlMs: null,
            pollIntervalMs: readers[kind].pollMillis(task)
          }
          if (!task.finished) return { ...common, status: "working" }
          if (task.errorCode === cancelledByVendor.errorCode) {
            const { errorMessage } = task
            return {
              ...common,
              status: "cancelled",
              ...(errorMessage === null ? {} : { statusMessage: errorMessage })
            }
          }
          // A failed order is the result of its tool, as the protocol keeps `failed` for its own errors.
          const result = yield* answer(kind, readResult, {})
          return { ...common, status: "completed", result: { resultType: "complete", ...result } }
        })
      ),
    cancel: (taskId: string): Effect.Effect<Json, ProtocolError, RequestServices> =>
      asProtocolErrors(
        Effect.gen(function* () {
          yield* cancel(yield* kindOf(taskId), taskId)
          return { resultType: "complete" }
        })
      ),
    /** No order asks anything of its client, so an update changes nothing. */
    update: (taskId: string): Effect.Effect<Json, ProtocolError, RequestServices> =>
      asProtocolErrors(
        Effect.gen(function* () {
          yield* read(yield* kindOf(taskId), taskId, 0)
          return { resultType: "complete" }
        })
      )
  }
}

export type McpTasks = ReturnType<typeof makeMcpTasks>
