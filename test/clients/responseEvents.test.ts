/** The events of responses, as clients get them over HTTP, are those of recorded streams. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { ResponseStreamEvent } from "openai/resources/responses/responses"
import { demoCatalog } from "../../src/demoCatalog.ts"
import { eventTypes } from "../../src/domain/responses/eventTypes.ts"
import type { Fields } from "../../src/domain/responses/responseObject.ts"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import {
  eventShapes,
  eventsLeftOut,
  ownDifferences,
  recordedOrders
} from "../support/recordedResponseEvents.ts"
import { differencesOf, orderOf } from "../support/responseDifferences.ts"
import { askResponse } from "../support/responses.ts"

const forecast = {
  type: "function",
  name: "forecast",
  description: "The forecast of a city",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
}
const note = {
  type: "custom",
  name: "note",
  description: "Notes a sentence",
  format: { type: "text" }
}
const summary = { effort: "low", summary: "auto" }
const format = {
  type: "json_schema",
  name: "city",
  schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
}

const chat = "talk-1"
const own = "talk-2"
const both = [chat, own]

interface Scenario {
  readonly says: string
  readonly models: ReadonlyArray<string>
  readonly order: keyof typeof recordedOrders
  readonly request: object
}

const scenarios: ReadonlyArray<Scenario> = [
  { says: "a text", models: both, order: "text", request: {} },
  {
    says: "a text with log probabilities",
    models: both,
    order: "text",
    request: { include: ["message.output_text.logprobs"], top_logprobs: 1 }
  },
  {
    says: "an output of a schema",
    models: both,
    order: "text",
    request: { text: { format } }
  },
  {
    says: "a refusal",
    models: both,
    order: "refusal",
    request: { input: "sim:declines" }
  },
  {
    says: "a call of a function",
    models: both,
    order: "functionCall",
    request: { tools: [forecast] }
  },
  {
    says: "a call of a custom tool",
    models: both,
    order: "customCall",
    request: { tools: [note] }
  },
  {
    says: "a summary of reasoning and a text",
    models: both,
    order: "summaryAndText",
    request: { reasoning: summary }
  },
  {
    says: "a summary of encrypted reasoning and a call",
    models: both,
    order: "summaryAndCall",
    request: {
      reasoning: summary,
      tools: [forecast],
      include: ["reasoning.encrypted_content"]
    }
  },
  {
    says: "reasoning that is shown and a text",
    models: [chat],
    order: "reasoningTextAndText",
    request: { reasoning: { effort: "low" } }
  },
  {
    says: "reasoning that is not shown and a text",
    models: [own],
    order: "hiddenReasoningAndText",
    request: { reasoning: { effort: "low" } }
  },
  {
    says: "a text that is cut at its length",
    models: both,
    order: "incomplete",
    request: { max_output_tokens: 3 }
  }
]

const cases = scenarios.flatMap(({ models, ...scenario }) =>
  models.map((model) => ({ ...scenario, model, title: `${scenario.says}: ${model}` }))
)

const decodeEvent = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))
)

/** The events of a stream, whose names are their types. */
const eventsIn = (text: string): ReadonlyArray<Fields> =>
  [...text.matchAll(/^event: (.+)\ndata: (\{.*\})$/gm)].map(([, name, data = ""]) => {
    const event = decodeEvent(data)
    assert.strictEqual(event.type, name)
    return event
  })

const checkEvents = (events: ReadonlyArray<Fields>, order: keyof typeof recordedOrders) => {
  const types = recordedOrders[order].filter((type) => !eventsLeftOut.has(type))
  assert.deepStrictEqual(orderOf(events), types)
  const differences = differencesOf(events)
  assert.deepStrictEqual(
    differences.filter((difference) => !ownDifferences.has(difference)),
    []
  )
  assert.deepStrictEqual(
    events.map(({ sequence_number }) => sequence_number),
    [...events.keys()]
  )
}

layer(layerTestGateway("postgres", quickSettings, { catalogFor: demoCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("events of streamed responses", (it) => {
  it.effect.each(cases)("$title, and the same from the store", ({ model, request, order, title }) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const body = { model, input: "a lighthouse at dusk", stream: true, ...request }
      const key = { "idempotency-key": title.replaceAll(/\W+/g, "-") }
      const first = yield* askResponse(who, body, key)
      checkEvents(eventsIn(first.text), order)
      const again = yield* askResponse(who, body, key)
      checkEvents(eventsIn(again.text), order)
    })
  )

  it.effect.each([
    { model: chat, sent: 1 },
    { model: own, sent: 2 }
  ])("a response that fails: $model", ({ model, sent }) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const input = `sim:errors=${sent}`
      const { text } = yield* askResponse(who, { model, input, stream: true })
      checkEvents(eventsIn(text), "failed")
    })
  )
})

/** Every event that the gateway writes is one that the clients of `openai` know. */
const knownTypes: ReadonlyArray<ResponseStreamEvent["type"]> = eventTypes

describe("the list of the events that the gateway writes", () => {
  it("each is recorded, and each recorded one is written or left out for a reason", () => {
    assert.deepStrictEqual(
      Object.keys(eventShapes).toSorted(),
      [...knownTypes, ...eventsLeftOut.keys()].toSorted()
    )
  })

  it("each is in the recorded order of a response, except for links to sources", () => {
    const ordered = new Set<string>(Object.values(recordedOrders).flat())
    assert.deepStrictEqual(
      eventTypes.filter((type) => !ordered.has(type)),
      ["response.output_text.annotation.added"]
    )
  })
})
