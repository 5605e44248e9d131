import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { eventsOfResponse } from "../../../src/domain/responses/responseEvents.ts"
import {
  type Fields,
  fieldsIn,
  listIn,
  type ResponseHead
} from "../../../src/domain/responses/responseObject.ts"
import { makeChatWriter, type ResponseEvent } from "../../../src/domain/responses/responseWriter.ts"
import { ownDifferences, recordedOrders } from "../../support/recordedResponseEvents.ts"
import { differencesOf, orderOf } from "../../support/responseDifferences.ts"

const head = (request: object = {}): ResponseHead => ({
  id: `resp_${"0".repeat(32)}`,
  createdAtSeconds: 1,
  model: "talk-1",
  request: { model: "talk-1", input: "x", ...request }
})

const delta = (fields: object, more: object = {}) => ({
  choices: [{ index: 0, delta: fields, ...more }]
})
/** The events of a text without links to sources. */
const ordinary = new Set<string>(recordedOrders.text)
const finish = (reason: string) => delta({}, { finish_reason: reason })
const call = (index: number | undefined, fields: object) =>
  delta({ tool_calls: [{ ...(index === undefined ? {} : { index }), ...fields }] })

const written = (chunks: ReadonlyArray<object>, request: object = {}) => {
  const writer = makeChatWriter(head(request))
  const events = chunks.flatMap((chunk) => writer.add({ ...chunk }))
  const end = writer.complete(2)
  return { events: [...events, ...end.events], response: end.response }
}

/** What every client relies on, whatever came. */
const checkOrder = (events: ReadonlyArray<ResponseEvent>, response: Fields) => {
  assert.deepStrictEqual(
    events.map(({ sequence_number }) => sequence_number),
    events.map((_, index) => index)
  )
  assert.deepStrictEqual(
    events.slice(0, 2).map(({ type }) => type),
    ["response.created", "response.in_progress"]
  )
  assert.strictEqual(events.at(-1)?.type, `response.${response.status}`)
  assert.deepStrictEqual(events.at(-1)?.response, response)
  const output = listIn(response.output)
  const of = (type: string) => events.filter((event) => event.type === type)
  for (const kind of ["added", "done"]) {
    assert.deepStrictEqual(
      of(`response.output_item.${kind}`)
        .map(({ output_index }) => Number(output_index))
        .toSorted((a, b) => a - b),
      output.map((_, index) => index)
    )
  }
  for (const [index, item] of output.entries()) {
    const inside = events.filter(({ output_index }) => output_index === index)
    assert.strictEqual(inside[0]?.type, "response.output_item.added")
    assert.deepStrictEqual(inside.at(-1)?.item, item)
    const deltas = inside.filter(({ type }) => type.endsWith(".delta"))
    assert.strictEqual(deltas.map((event) => event.delta).join(""), textOf(item))
    const last = inside.find(({ type }) => /(?:text|refusal|arguments|input)\.done$/.test(type))
    assert.strictEqual(last?.text ?? last?.refusal ?? last?.arguments ?? last?.input, textOf(item))
  }
}

const textOf = (item: Fields): unknown => {
  const [part = {}] = listIn(item.content).concat(listIn(item.summary))
  return item.arguments ?? item.input ?? part.text ?? part.refusal
}

describe("a chat written as a response", () => {
  it("reasoning, a text, a refusal and calls follow each other", () => {
    const { events, response } = written([
      delta({ role: "assistant", reasoning_content: "hm" }),
      delta({ reasoning: "m" }),
      delta({ content: "a" }),
      delta({ content: "b" }),
      delta({ refusal: "no" }),
      call(0, { id: "c1", type: "function", function: { name: "f", arguments: "" } }),
      call(0, { function: { arguments: "{}" } }),
      call(1, { id: "c2", type: "custom", custom: { name: "g", input: "raw" } }),
      finish("tool_calls")
    ])
    checkOrder(events, response)
    assert.deepStrictEqual(
      listIn(response.output).map((item) => [item.type, item.status, textOf(item)]),
      [
        ["reasoning", undefined, "hmm"],
        ["message", "completed", "ab"],
        ["message", "completed", "no"],
        ["function_call", "completed", "{}"],
        ["custom_tool_call", "completed", "raw"]
      ]
    )
    assert.strictEqual(new Set(listIn(response.output).map(({ id }) => id)).size, 5)
  })

  it("reasoning is a summary for a client that asked for one", () => {
    const { events, response } = written([delta({ reasoning_content: "hm" })], {
      reasoning: { summary: "auto" }
    })
    checkOrder(events, response)
    assert.deepInclude(listIn(response.output)[0], {
      summary: [{ type: "summary_text", text: "hm" }]
    })
  })

  it.each([
    [
      "pieces of calls that alternate",
      [
        call(0, { id: "c1", function: { name: "f", arguments: "1" } }),
        call(1, { id: "c2", function: { name: "g", arguments: "2" } }),
        delta({ content: "words between" }),
        call(0, { function: { arguments: "3" } }),
        call(1, { function: { arguments: "4" } })
      ],
      ["f 13", "g 24"]
    ],
    [
      "calls without numbers",
      [
        call(undefined, { id: "c1", function: { name: "f", arguments: "1" } }),
        call(undefined, { function: { arguments: "2" } }),
        call(undefined, { id: "c2", function: { name: "g", arguments: "3" } })
      ],
      ["f 12", "g 3"]
    ],
    [
      "calls without numbers and ids",
      [
        call(undefined, { function: { name: "f", arguments: "1" } }),
        call(undefined, { function: { name: "f", arguments: "2" } })
      ],
      ["f 1", "f 2"]
    ],
    [
      "calls that all have the number 0",
      [
        call(0, { id: "c1", function: { name: "f", arguments: "1" } }),
        call(0, { id: "c2", function: { name: "f", arguments: "2" } })
      ],
      ["f 1", "f 2"]
    ],
    [
      "a call that repeats its id and its name",
      [
        call(0, { id: "c1", function: { name: "f", arguments: "1" } }),
        call(0, { id: "c1", function: { name: "f", arguments: "2" } })
      ],
      ["f 12"]
    ],
    [
      "calls of a whole message",
      [
        {
          choices: [
            {
              message: {
                tool_calls: [
                  { function: { name: "f", arguments: "1" } },
                  { function: { name: "f", arguments: "2" } }
                ]
              }
            }
          ]
        }
      ],
      ["f 1", "f 2"]
    ]
  ])("%s", (_, chunks, calls) => {
    const { events, response } = written(chunks)
    checkOrder(events, response)
    const items = listIn(response.output).filter(({ type }) => type === "function_call")
    assert.deepStrictEqual(
      items.map((item) => `${item.name} ${item.arguments}`),
      calls
    )
    assert.strictEqual(new Set(items.map(({ call_id }) => call_id)).size, calls.length)
  })

  it("annotations and logprobs stand beside the text, in the events that were recorded", () => {
    const link = { url: "https://a.test", title: "A", start_index: 0, end_index: 1 }
    const source = { type: "url_citation", url_citation: link }
    const logprob = { token: "a", logprob: -0.1, bytes: [97], top_logprobs: [] }
    const { events, response } = written([
      delta({ content: "a" }, { logprobs: { content: [logprob] } }),
      delta({ annotations: [source] })
    ])
    checkOrder(events, response)
    assert.deepStrictEqual(listIn(listIn(response.output)[0]?.content), [
      {
        type: "output_text",
        text: "a",
        annotations: [{ type: "url_citation", ...link }],
        logprobs: [logprob]
      }
    ])
    const again = eventsOfResponse(response)
    for (const sent of [events, again]) {
      assert.deepStrictEqual(
        differencesOf(sent).filter((difference) => !ownDifferences.has(difference)),
        ["response.usage: null, recorded object"]
      )
      assert.deepStrictEqual(
        sent.filter(({ type }) => !ordinary.has(type)).map((event) => event.annotation_index),
        [0]
      )
    }
    assert.deepStrictEqual(orderOf(again), orderOf(events))
  })

  it.each([
    ["length", "incomplete", { reason: "max_output_tokens" }, null],
    ["content_filter", "incomplete", { reason: "content_filter" }, null],
    ["stop", "completed", null, null],
    ["error", "failed", null, "server_error"]
  ])("a chat that ends by %s is %s", (reason, status, details, code) => {
    const { events, response } = written([delta({ content: "a" }), finish(reason)])
    checkOrder(events, response)
    assert.deepInclude(response, { status, incomplete_details: details })
    assert.strictEqual(fieldsIn(response.error).code ?? null, code)
    const [item] = listIn(response.output)
    assert.strictEqual(item?.status, status === "completed" ? "completed" : "incomplete")
    assert.strictEqual(response.completed_at, status === "completed" ? 2 : null)
  })

  it("a stream that breaks keeps what was written, and says why", () => {
    const writer = makeChatWriter(head())
    const events = [
      ...writer.add(delta({ content: "a" })),
      ...writer.add(call(0, { id: "c1", function: { name: "f", arguments: "{" } }))
    ]
    const end = writer.fail({ code: "upstream_error", message: "lost" })
    checkOrder([...events, ...end.events], end.response)
    assert.deepInclude(end.response, {
      status: "failed",
      error: { code: "upstream_error", message: "lost" }
    })
    assert.deepStrictEqual(
      listIn(end.response.output).map(({ status }) => status),
      ["completed", "incomplete"]
    )
  })

  it("an error before any text has the events that begin a response", () => {
    const end = makeChatWriter(head()).fail({ code: "upstream_error", message: "lost" })
    checkOrder(end.events, end.response)
  })

  it.each([
    [
      "all counts",
      {
        prompt_tokens: 5,
        completion_tokens: 7,
        prompt_tokens_details: { cached_tokens: 3 },
        completion_tokens_details: { reasoning_tokens: 2 }
      },
      [5, 3, 7, 2, 12]
    ],
    [
      "cached tokens beside the totals",
      { prompt_tokens: 5, completion_tokens: 7, prompt_cache_hit_tokens: 4 },
      [5, 4, 7, 0, 12]
    ],
    ["the totals alone", { prompt_tokens: 5, completion_tokens: 7 }, [5, 0, 7, 0, 12]]
  ])("usage has %s", (_, usage, [input, cached, output, reasoning, total]) => {
    const { response } = written([delta({ content: "a" }), { choices: [], usage }])
    assert.deepStrictEqual(response.usage, {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: total
    })
    assert.isNull(written([delta({ content: "a" })]).response.usage)
  })

  it("a response repeats its request, and what stands for a field that was left out", () => {
    const tools = [
      { type: "function", name: "f" },
      { type: "function", name: "g", description: "d", parameters: {}, strict: true },
      { type: "custom", name: "h" }
    ]
    const { response } = written([delta({ content: "a" })], {
      tools,
      instructions: "be brief",
      temperature: 0.5,
      text: { format: null, verbosity: "low" },
      reasoning: { effort: "low" },
      previous_response_id: "resp_1"
    })
    assert.deepInclude(response, {
      object: "response",
      created_at: 1,
      model: "talk-1",
      tools: [
        { ...tools[0], description: null, parameters: null, strict: null },
        ...tools.slice(1)
      ],
      instructions: "be brief",
      temperature: 0.5,
      top_p: null,
      tool_choice: "auto",
      parallel_tool_calls: true,
      text: { format: { type: "text" }, verbosity: "low" },
      reasoning: { effort: "low", summary: null },
      previous_response_id: "resp_1",
      store: true,
      error: null
    })
  })

  it.prop(
    "whatever comes, events are in order and agree with the response",
    [
      Schema.Array(
        Schema.Union([
          Schema.Struct({ reasoning_content: Schema.String }),
          Schema.Struct({ content: Schema.NullOr(Schema.String) }),
          Schema.Struct({ refusal: Schema.String }),
          Schema.Struct({
            tool_calls: Schema.Array(
              Schema.Struct({
                index: Schema.optionalKey(Schema.Literals([0, 1, 2])),
                id: Schema.optionalKey(Schema.Literals(["", "a", "b"])),
                type: Schema.optionalKey(Schema.Literals(["function", "custom"])),
                function: Schema.Struct({
                  name: Schema.optionalKey(Schema.Literals(["", "f", "g"])),
                  arguments: Schema.String
                })
              })
            )
          }),
          Schema.Struct({ other: Schema.Unknown })
        ])
      )
    ],
    ([deltas]) => {
      const { events, response } = written(deltas.map((fields) => delta(fields)))
      checkOrder(events, response)
      // The same response as the events of one that came whole.
      const again = eventsOfResponse(response)
      checkOrder(again, response)
    }
  )

  it.prop(
    "a stream and the same chat as a whole are one response",
    [
      Schema.Array(Schema.String),
      Schema.Array(Schema.String),
      Schema.Array(Schema.Tuple([Schema.Boolean, Schema.Array(Schema.String)]))
    ],
    ([thoughts, words, calls]) => {
      const named = calls.map(([isCustom, pieces], index) => {
        const tool = (text: string, name: object) =>
          isCustom
            ? { custom: { ...name, input: text } }
            : { function: { ...name, arguments: text } }
        const type = isCustom ? "custom" : "function"
        const id = `c${index}`
        return {
          whole: { id, type, ...tool(pieces.join(""), { name: "f" }) },
          pieces: [
            { index, id, type, ...tool("", { name: "f" }) },
            ...pieces.map((text) => ({ index, ...tool(text, {}) }))
          ]
        }
      })
      const longest = Math.max(0, ...named.map(({ pieces }) => pieces.length))
      /** The pieces of all calls in turn. */
      const alternating = Array.from({ length: longest }, (_, at) =>
        named.flatMap(({ pieces }) => pieces.slice(at, at + 1))
      ).flat()
      const streamed = written([
        ...thoughts.map((reasoning_content) => delta({ reasoning_content })),
        ...words.map((content) => delta({ content })),
        ...alternating.map((piece) => delta({ tool_calls: [piece] })),
        finish("stop")
      ])
      const whole = written([
        {
          choices: [
            {
              index: 0,
              finish_reason: "stop",
              message: {
                reasoning_content: thoughts.join(""),
                content: words.join(""),
                tool_calls: named.map((one) => one.whole)
              }
            }
          ]
        }
      ])
      assert.deepStrictEqual(streamed.response, whole.response)
    }
  )
})
