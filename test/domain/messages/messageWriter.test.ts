import { assert, describe, it } from "@effect/vitest"
import {
  type MessageHead,
  makeMessageWriter,
  messageOfResponse,
  stopSequenceIn
} from "../../../src/domain/messages/messageWriter.ts"
import { fieldsIn, listIn } from "../../../src/domain/responses/responseObject.ts"
import { makeChatWriter } from "../../../src/domain/responses/responseWriter.ts"

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const headOf = (more: Partial<MessageHead> = {}): MessageHead => ({
  id: "msg_1",
  model: "talk-1",
  hasThoughts: false,
  stopSequences: [],
  parseJson,
  ...more
})

const delta = (fields: object, more: object = {}) => ({
  choices: [{ index: 0, delta: fields, ...more }]
})
const finish = (reason: string, more: object = {}) => delta({}, { finish_reason: reason, ...more })
const call = (index: number, fields: object) => delta({ tool_calls: [{ index, ...fields }] })
const begin = (index: number, name: string) =>
  call(index, { id: `c${index}`, function: { name, arguments: "" } })
const args = (index: number, text: string) => call(index, { function: { arguments: text } })

/** The events of a stream, and the message of the same chat as a whole. */
const written = (chunks: ReadonlyArray<object>, more: Partial<MessageHead> = {}) => {
  const head = headOf(more)
  const chat = makeChatWriter({
    id: `resp_${"0".repeat(32)}`,
    createdAtSeconds: 1,
    model: "talk-1",
    request: { model: "talk-1" }
  })
  const writer = makeMessageWriter(head)
  let stopSequence: string | null = null
  const events = chunks.flatMap((chunk) => {
    stopSequence = stopSequenceIn({ ...chunk }, head) ?? stopSequence
    return writer.add(chat.add({ ...chunk }))
  })
  const end = chat.complete(2)
  const all = [...events, ...writer.end(end.events, stopSequence)]
  return { events: all, message: messageOfResponse(head, end.response, stopSequence) }
}

/** A block with a piece of its text, its thoughts or its arguments added. */
const withPiece = (block: Record<string, unknown> = {}, event: object) => {
  const pieces = { ...fieldsIn(fieldsIn(event).delta), type: block.type }
  return Object.fromEntries(
    Object.entries({ ...block, ...pieces }).map(([name, value]) => [
      name,
      name in pieces && name !== "type" ? `${block[name] ?? ""}${value}` : value
    ])
  )
}

/** The blocks as a client puts them together that has one of them open at a time. */
const blocksIn = (events: ReturnType<typeof written>["events"]) => {
  const blocks: Array<Record<string, unknown>> = []
  const places = events.flatMap(({ type, index }) =>
    type.startsWith("content_block") ? [`${index} ${type.slice("content_block_".length)}`] : []
  )
  for (const event of events) {
    if (event.type === "content_block_start") blocks.push({ ...fieldsIn(event.content_block) })
    if (event.type === "content_block_delta") blocks.push(withPiece(blocks.pop(), event))
  }
  const kindOf = (index: number) => places.filter((place) => place.startsWith(`${index} `))
  const inTurn = blocks.flatMap((_, index) => kindOf(index))
  assert.deepStrictEqual(places, inTurn)
  for (const [index] of blocks.entries()) {
    const [first, ...others] = kindOf(index)
    assert.deepStrictEqual([first, others.at(-1)], [`${index} start`, `${index} stop`])
  }
  return blocks.map(({ partial_json, ...block }) =>
    partial_json === undefined ? block : { ...block, input: parseJson(String(partial_json)) }
  )
}

describe("a message from a chat", () => {
  it("has its text, its end and its usage, and the same events", () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 4,
      prompt_tokens_details: { cached_tokens: 6 }
    }
    const { events, message } = written([
      delta({ content: "The lamp " }),
      delta({ content: "turns" }),
      finish("stop"),
      { choices: [], usage }
    ])
    const counts = {
      input_tokens: 4,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 6,
      output_tokens: 4
    }
    assert.deepStrictEqual(message, {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "talk-1",
      content: [{ type: "text", text: "The lamp turns" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: counts
    })
    assert.deepStrictEqual(
      events.map(({ type }) => type),
      [
        "message_start",
        "ping",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop"
      ]
    )
    assert.deepStrictEqual(blocksIn(events), listIn(message.content))
    assert.deepStrictEqual(events.at(-2), {
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: counts
    })
  })

  it("has one block after the other, though pieces of calls alternate", () => {
    const chunks = [
      delta({ content: "I look." }),
      begin(0, "weather"),
      args(0, '{"city":'),
      begin(1, "time"),
      args(1, '{"zone":"UTC"}'),
      args(0, '"Oslo"}'),
      begin(2, "wind"),
      finish("tool_calls")
    ]
    const { events, message } = written(chunks)
    assert.strictEqual(message.stop_reason, "tool_use")
    assert.deepStrictEqual(listIn(message.content), [
      { type: "text", text: "I look." },
      { type: "tool_use", id: "c0", name: "weather", input: { city: "Oslo" } },
      { type: "tool_use", id: "c1", name: "time", input: { zone: "UTC" } },
      { type: "tool_use", id: "c2", name: "wind", input: {} }
    ])
    assert.deepStrictEqual(blocksIn(events), listIn(message.content))
  })

  it("sends a call to its client while the next one is written", () => {
    const writer = makeMessageWriter(headOf())
    const chat = makeChatWriter({
      id: `resp_${"0".repeat(32)}`,
      createdAtSeconds: 1,
      model: "talk-1",
      request: { model: "talk-1" }
    })
    const types = [begin(0, "a"), args(0, "{}"), begin(1, "b")].map((chunk) =>
      writer.add(chat.add(chunk)).map(({ type }) => type)
    )
    assert.deepStrictEqual(types[2], ["content_block_stop", "content_block_start"])
  })

  it("has thoughts where they were wanted", () => {
    const chunks = [
      delta({ reasoning_content: "A lamp. " }),
      delta({ reasoning_content: "At dusk." }),
      delta({ content: "It turns." }),
      finish("stop")
    ]
    const answer = { type: "text", text: "It turns." }
    const thoughts = { type: "thinking", thinking: "A lamp. At dusk.", signature: "" }
    const silent = written(chunks)
    assert.deepStrictEqual(listIn(silent.message.content), [answer])
    assert.deepStrictEqual(blocksIn(silent.events), [answer])
    const thinking = written(chunks, { hasThoughts: true })
    assert.deepStrictEqual(listIn(thinking.message.content), [thoughts, answer])
    assert.deepStrictEqual(blocksIn(thinking.events), [thoughts, answer])
  })

  it.each([
    [finish("length"), "max_tokens", null],
    [finish("content_filter"), "refusal", null],
    [finish("stop", { stop_reason: "END" }), "stop_sequence", "END"],
    [finish("stop", { stop_reason: "else" }), "end_turn", null],
    [delta({ refusal: "No." }, { finish_reason: "stop" }), "refusal", null]
  ])("says why it ended: %#", (chunk, reason, sequence) => {
    const { events, message } = written([delta({ content: "x" }), chunk], {
      stopSequences: ["END"]
    })
    assert.deepInclude(message, { stop_reason: reason, stop_sequence: sequence })
    assert.deepInclude(fieldsIn(events.at(-2)).delta, { stop_reason: reason })
  })

  it("ends with an error where the vendor failed, and keeps arguments that are no JSON", () => {
    const { events } = written([delta({ content: "x" }), finish("error")])
    assert.deepNestedInclude(events.at(-1), { type: "error", "error.type": "api_error" })
    const { message } = written([begin(0, "a"), args(0, "{oops"), finish("tool_calls")])
    assert.deepNestedInclude(message, { "content[0].input": { invalid_json: "{oops" } })
  })
})
