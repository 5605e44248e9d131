/** What the clients of the Responses API promise, over a vendor that has it and one of chats. */
import { createOpenAI } from "@ai-sdk/openai"
import { assert, layer } from "@effect/vitest"
import { HumanMessage } from "@langchain/core/messages"
import { tool as chainTool } from "@langchain/core/tools"
import { ChatOpenAI } from "@langchain/openai"
import { Agent, tool as agentTool, OpenAIProvider, Runner } from "@openai/agents"
import { Effect } from "effect"
import OpenAI from "openai"
import { zodResponsesFunction, zodTextFormat } from "openai/helpers/zod"
import type { ResponseInput, ResponseStreamEvent } from "openai/resources/responses/responses"
import type { Reasoning } from "openai/resources/shared"
import { demoCatalog } from "../../src/demoCatalog.ts"
import { usesAiModel, Weather } from "../support/aiModels.ts"
import { type Customer, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { done, openaiOf, rejection } from "../support/officialClients.ts"
import { textEvents } from "../support/responseEvents.ts"

/** A model of a vendor with chats alone, and one of a vendor with the Responses API. */
const models = ["talk-1", "talk-2"] as const

const forecast = zodResponsesFunction({ name: "forecast", parameters: Weather })

const connectionOf = (who: Customer) =>
  Effect.map(Gateway, ({ url }) => ({ apiKey: who.key, baseURL: `${url}/v1` }))

const reasonedCallEvents = [
  "response.created",
  "response.in_progress",
  "response.output_item.added",
  "response.reasoning_summary_part.added",
  "response.reasoning_summary_text.delta",
  "response.reasoning_summary_text.done",
  "response.reasoning_summary_part.done",
  "response.output_item.done",
  "response.output_item.added",
  "response.function_call_arguments.delta",
  "response.function_call_arguments.done",
  "response.output_item.done",
  "response.completed"
]

const reasoning: Reasoning = { effort: "low", summary: "auto" }

const withoutRepeats = (types: ReadonlyArray<string>) =>
  types.filter((type, index) => type !== types[index - 1])

layer(layerTestGateway("postgres", quickSettings, { catalogFor: demoCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("the clients of responses", (it) => {
  it.effect.each(models)("openai writes, continues, reads and deletes: %s", (model) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const client = yield* openaiOf(who)
      const [first, second] = yield* done(async () => {
        const begun = await client.responses.create({
          model,
          instructions: "Be brief",
          input: "a lighthouse at dusk",
          metadata: { team: "red" }
        })
        const previous_response_id = begun.id
        const continued = { model, input: "and at dawn?", previous_response_id }
        return [begun, await client.responses.create(continued)] as const
      })
      assert.strictEqual(first.status, "completed")
      assert.isNotEmpty(first.output_text)
      assert.deepStrictEqual(first.metadata, { team: "red" })
      assert.strictEqual(second.previous_response_id, first.id)
      // The vendor got the first question and its answer once more.
      assert.isAbove(second.usage?.input_tokens ?? 0, first.usage?.total_tokens ?? 0)
      const read = yield* done(() => client.responses.retrieve(first.id))
      assert.deepStrictEqual([read.output, read.usage], [first.output, first.usage])
      const [item] = (yield* done(() => client.responses.inputItems.list(second.id))).data
      assert.propertyVal(item, "content", "and at dawn?")
      yield* done(() => client.responses.delete(first.id))
      assert.instanceOf(
        yield* rejection(() => client.responses.retrieve(first.id)),
        OpenAI.NotFoundError
      )
      const error = yield* rejection(() =>
        client.responses.create({ model, input: "x", previous_response_id: second.id })
      )
      assert.instanceOf(error, OpenAI.BadRequestError)
      assert.deepInclude(error, { param: "previous_response_id" })
    })
  )

  it.effect.each(models)("openai streams a text by the events of the standard: %s", (model) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const client = yield* openaiOf(yield* gateway.customer("10"))
      const { types, numbers, text, final } = yield* done(async () => {
        const stream = client.responses.stream({ model, input: "a lighthouse at dusk" })
        const types: Array<string> = []
        const numbers: Array<number> = []
        let text = ""
        for await (const event of stream) {
          types.push(event.type)
          numbers.push(event.sequence_number)
          if (event.type === "response.output_text.delta") text += event.delta
        }
        return { types, numbers, text, final: await stream.finalResponse() }
      })
      assert.deepStrictEqual(withoutRepeats(types), [...textEvents])
      assert.deepStrictEqual(numbers, [...numbers.keys()])
      assert.strictEqual(final.output_text, text)
      const read = yield* done(() => client.responses.retrieve(final.id))
      assert.deepStrictEqual([read.status, read.usage], ["completed", final.usage])
      const streamed = yield* done(async () => {
        const events: Array<ResponseStreamEvent> = []
        const stream = await client.responses.retrieve(final.id, { stream: true })
        for await (const event of stream) events.push(event)
        return events
      })
      assert.deepStrictEqual(
        streamed.map(({ type }) => type),
        [...textEvents]
      )
      const end = streamed.at(-1)
      assert.deepStrictEqual(end?.type === "response.completed" && end.response.output, read.output)
      const error = yield* rejection(() =>
        client.responses.retrieve(final.id, { stream: true, starting_after: 3 })
      )
      assert.instanceOf(error, OpenAI.BadRequestError)
      assert.deepInclude(error, { param: "starting_after" })
    })
  )

  it.effect.each(models)("openai streams reasoning and calls of tools: %s", (model) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const client = yield* openaiOf(yield* gateway.customer("10"))
      const order = { model, tools: [forecast], reasoning }
      const { types, answer } = yield* done(async () => {
        const stream = client.responses.stream({ ...order, input: "the forecast?" })
        const types: Array<string> = []
        for await (const event of stream) types.push(event.type)
        const { output } = await stream.finalResponse()
        const call = output.find((item) => item.type === "function_call")
        assert(call?.type === "function_call")
        Weather.parse(JSON.parse(call.arguments))
        const { parsed_arguments: _, ...sent } = call
        const input: ResponseInput = [
          { role: "user", content: "the forecast?" },
          ...output.filter((item) => item.type === "reasoning"),
          sent,
          { type: "function_call_output", call_id: call.call_id, output: "rain" }
        ]
        const answer = await client.responses.create({
          ...order,
          input,
          store: false,
          stream: false
        })
        return { types, answer }
      })
      assert.deepStrictEqual(withoutRepeats(types), reasonedCallEvents)
      assert.deepStrictEqual(
        answer.output.map(({ type }) => type),
        ["reasoning", "message"]
      )
      assert.propertyVal(answer, "store", false)
      assert.instanceOf(
        yield* rejection(() => client.responses.retrieve(answer.id)),
        OpenAI.NotFoundError
      )
    })
  )

  it.effect.each(models)("openai parses an output of a schema, and sends pictures: %s", (model) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const client = yield* openaiOf(yield* gateway.customer("10"))
      const parsed = yield* done(() =>
        client.responses.parse({
          model,
          input: [
            {
              role: "user",
              content: [
                { type: "input_text", text: "what is the weather here?" },
                { type: "input_image", image_url: "https://media.test/1.png", detail: "low" }
              ]
            }
          ],
          text: { format: zodTextFormat(Weather, "weather") }
        })
      )
      assert.isTrue(Weather.safeParse(parsed.output_parsed).success)
      assert.isAbove(parsed.usage?.input_tokens ?? 0, 85)
    })
  )

  it.effect.each(models)("an answer that is cut at its length is incomplete: %s", (model) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const client = yield* openaiOf(yield* gateway.customer("10"))
      const whole = yield* done(() =>
        client.responses.create({ model, input: "x", max_output_tokens: 3 })
      )
      assert.deepInclude(whole, {
        status: "incomplete",
        incomplete_details: { reason: "max_output_tokens" }
      })
      const last = yield* done(async () => {
        const events = await client.responses.create({
          model,
          input: "x",
          max_output_tokens: 3,
          stream: true
        })
        let last = ""
        for await (const event of events) last = event.type
        return last
      })
      assert.strictEqual(last, "response.incomplete")
    })
  )

  it.effect.each(models)("the AI SDK's default model calls tools and makes objects: %s", (model) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const openai = createOpenAI(yield* connectionOf(yield* gateway.customer("10")))
      yield* usesAiModel(openai(model))
    })
  )

  it.effect.each(models)("an agent of OpenAI's SDK uses its tool: %s", (model) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const connection = yield* connectionOf(yield* gateway.customer("10"))
      const asked: Array<string> = []
      const agent = new Agent({
        name: "Forecaster",
        instructions: "Tell the weather",
        model,
        tools: [
          agentTool({
            name: "weather",
            description: "The weather of a city",
            parameters: Weather,
            execute: async ({ city }) => {
              asked.push(city)
              return "rain"
            }
          })
        ]
      })
      const runner = new Runner({
        modelProvider: new OpenAIProvider({ ...connection, useResponses: true }),
        tracingDisabled: true
      })
      const { finalOutput } = yield* done(() => runner.run(agent, "the weather?"))
      assert.lengthOf(asked, 1)
      assert.isNotEmpty(finalOutput)
      const streamed = yield* done(async () => {
        const run = await runner.run(agent, "the weather?", { stream: true })
        let text = ""
        for await (const piece of run.toTextStream()) text += piece
        await run.completed
        return text
      })
      assert.isNotEmpty(streamed)
    })
  )

  it.effect.each(models)("LangChain's model over the Responses API calls tools: %s", (model) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { apiKey, baseURL } = yield* connectionOf(yield* gateway.customer("10"))
      const chat = new ChatOpenAI({
        model,
        apiKey,
        configuration: { baseURL },
        useResponsesApi: true
      })
      const weather = chainTool(async () => "rain", {
        name: "weather",
        description: "The weather of a city",
        schema: Weather
      })
      const { answer, called, pieces } = yield* done(async () => {
        const question = new HumanMessage("the weather?")
        const called = await chat.bindTools([weather]).invoke([question])
        const results = await Promise.all(
          (called.tool_calls ?? []).map((call) => weather.invoke(call))
        )
        const answer = await chat.bindTools([weather]).invoke([question, called, ...results])
        let pieces = ""
        for await (const piece of await chat.stream("a lighthouse")) pieces += piece.text
        return { answer, called, pieces }
      })
      assert.lengthOf(called.tool_calls ?? [], 1)
      assert.isNotEmpty(answer.text)
      assert.isNotEmpty(pieces)
      assert.property(answer, "usage_metadata")
    })
  )
})
