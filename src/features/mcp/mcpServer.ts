/** A server of the protocol for one request, with the tools that the request's key may use. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext
} from "@modelcontextprotocol/server"
import { Cause, Effect, Result, Schema } from "effect"
import type { GatewayError } from "../../domain/Errors.ts"
import { isFaultOfRequest, type KeyRates } from "../../http/server/access/keyRates.ts"
import { errorOfDefect } from "../../http/server/errorResponse.ts"
import { type Caller, lacksScope } from "../../services/Access.ts"
import {
  type McpTasks,
  missingTasks,
  protocolErrorOf,
  supportsTasks,
  TASKS_EXTENSION
} from "./mcpTasks.ts"
import { errorAnswer, type RequestServices, type Tool } from "./toolAnswers.ts"
import type { Json } from "./toolSchemas.ts"

const INSTRUCTIONS = `Orders videos, images and speech of many vendors. list_models shows the models with their limits and prices, and get_quote what an order would cost. Each order needs max_cost, the most it may cost, or the quote_id of a quote; it is never charged more. An order that fails or is cancelled costs nothing. Give each order a call_id of your own: a repeat with it gets the first order. Errors name the argument at fault in error.param.`

/** The request that a server answers. */
export interface McpCall {
  readonly caller: Caller
  /** Runs an effect with the services of the request, until the client goes away. */
  run<A>(effect: Effect.Effect<A, never, RequestServices>, signal: AbortSignal): Promise<A>
}

const TaskParams = Schema.toStandardSchemaV1(Schema.Struct({ taskId: Schema.String }))

/** The error for an unexpected failure, which is logged; the client learns nothing of its cause. */
const logDefect = (method: string, cause: Cause.Cause<unknown>): Effect.Effect<GatewayError> =>
  Effect.logError("mcp: unexpected failure", cause).pipe(
    Effect.annotateLogs({ method }),
    Effect.as(errorOfDefect(cause))
  )

const capabilitiesOf = ({ mcpReq }: ServerContext): unknown => {
  const envelope: Json = mcpReq.envelope ?? {}
  return envelope[CLIENT_CAPABILITIES_META_KEY]
}

export const makeServerFor = (
  tools: ReadonlyArray<Tool>,
  tasks: McpTasks,
  rates: KeyRates["Service"],
  version: string
) => {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))

  /** Runs a tool. Each of its errors is an answer. */
  const callTool = (tool: Tool, caller: Caller, args: Json, hasTasks: boolean) => {
    const { scopes } = tool
    const isPermitted = scopes.some((scope) => caller.scopes.has(scope))
    const answer = isPermitted ? tool.run(args, hasTasks) : Effect.fail(lacksScope(caller, scopes))
    return answer.pipe(
      Effect.catch((error) =>
        Effect.as(
          isFaultOfRequest(error._tag) ? rates.countRefusal(caller) : Effect.void,
          errorAnswer(error)
        )
      ),
      Effect.catchCauseIf(
        (cause) => !Cause.hasInterruptsOnly(cause),
        (cause) => Effect.map(logDefect(tool.name, cause), errorAnswer)
      )
    )
  }

  return ({ caller, run }: McpCall): Server => {
    const permittedTools = tools.filter(({ scopes }) =>
      scopes.some((scope) => caller.scopes.has(scope))
    )
    const server = new Server(
      { name: "media-gateway", title: "Media gateway", version },
      {
        capabilities: { tools: {}, extensions: { [TASKS_EXTENSION]: {} } },
        instructions: INSTRUCTIONS
      }
    )

    server.setRequestHandler("tools/list", () => ({
      tools: permittedTools.map(
        ({ name, title, description, annotations, inputSchema, outputSchema }) => ({
          name,
          title,
          description,
          annotations: { title, ...annotations },
          inputSchema: { ...inputSchema },
          outputSchema: { ...outputSchema }
        })
      )
    }))

    server.setRequestHandler("tools/call", async ({ params }, context) => {
      const tool = byName.get(params.name)
      if (tool === undefined) {
        const names = permittedTools.map(({ name }) => name).join(", ")
        const message = `Unknown tool: ${JSON.stringify(params.name)}; there are ${names}`
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, message)
      }
      const hasTasks = supportsTasks(capabilitiesOf(context))
      const answer = callTool(tool, caller, params.arguments ?? {}, hasTasks)
      return await run(answer, context.mcpReq.signal)
    })

    /** Answers a request about a task, for a client that declares the extension. */
    const answerTask = async (
      request: Effect.Effect<Json, ProtocolError, RequestServices>,
      context: ServerContext
    ) => {
      if (!supportsTasks(capabilitiesOf(context))) throw missingTasks()
      const answer = Effect.catchDefect(request, (defect) =>
        Effect.flatMap(logDefect(context.mcpReq.method, Cause.die(defect)), (error) =>
          Effect.fail(protocolErrorOf(error))
        )
      )
      const result = await run(Effect.result(answer), context.mcpReq.signal)
      if (Result.isSuccess(result)) return { ...result.success }
      throw result.failure
    }
    const methods = { get: tasks.get, update: tasks.update, cancel: tasks.cancel }
    for (const [name, method] of Object.entries(methods)) {
      server.setRequestHandler(`tasks/${name}`, { params: TaskParams }, ({ taskId }, context) =>
        answerTask(method(taskId), context)
      )
    }
    return server
  }
}
