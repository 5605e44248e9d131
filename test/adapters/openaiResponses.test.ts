import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { ResponsesBody } from "../../src/domain/responses/ResponsesRequest.ts"
import type { TextPiece } from "../../src/services/ProtocolAdapter.ts"
import { brokenVendor, closedPort, type Reply } from "../support/brokenVendor.ts"
import { textEvents } from "../support/responseEvents.ts"
import { bytesOf, events, sse } from "./chatStreams.ts"
import { failureOf, lost, refused } from "./failures.ts"
import {
  API_KEY,
  accountAt,
  layerOverSockets,
  limitSeconds,
  named,
  textAdapter
} from "./support.ts"
import { plainBearer, vendorCallSuite } from "./vendorCall.suite.ts"

const adapter = Effect.flatMap(textAdapter("openai_responses"), ({ responses }) =>
  Effect.orDie(Effect.fromNullishOr(responses))
)

const body: ResponsesBody = { model: "our-model", input: "hello" }
const order = { upstreamModel: "m-1", body }

const part = { type: "output_text", text: "hello", annotations: [], logprobs: [] }
const message = {
  id: "msg_1",
  type: "message",
  status: "completed",
  role: "assistant",
  content: [part]
}
const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 }
const good = { id: "resp_1", object: "response", status: "completed", output: [message], usage }
const failed = {
  ...good,
  status: "failed",
  output: [],
  error: { code: "server_error", message: "no" }
}

const event = (type: string, fields: object = {}) => JSON.stringify({ type, ...fields })
const begun = event("response.created", {
  response: { ...good, status: "in_progress", output: [], usage: null }
})
const delta = (text: string) =>
  event("response.output_text.delta", { output_index: 0, item_id: "msg_1", delta: text })
const done = event("response.output_item.done", { output_index: 0, item: message })
const completed = event("response.completed", { response: good })

const streamFrom = Effect.fnUntraced(function* (baseUrl: string) {
  const pieces: Array<TextPiece> = []
  const result = yield* Effect.result(
    (yield* adapter).stream(
      accountAt(baseUrl),
      { ...order, body: { ...body, stream: true } },
      (taken) => Effect.sync(() => void pieces.push(...taken))
    )
  )
  return {
    pieces,
    text: bytesOf(pieces),
    outputBytes: pieces.reduce((sum, piece) => sum + piece.outputBytes, 0),
    usage: pieces.flatMap((piece) => piece.usage ?? []),
    failure: result._tag === "Failure" ? failureOf(result.failure) : null
  }
})

const streamOf = (reply: Reply) => Effect.flatMap(brokenVendor(reply), ({ url }) => streamFrom(url))

layer(layerOverSockets)("openai_responses", (it) => {
  vendorCallSuite(it, {
    name: "a response",
    call: (there) => Effect.flatMap(adapter, ({ complete }) => complete(there, order)),
    good,
    seconds: limitSeconds.text,
    dialect: plainBearer
  })

  it.effect("the request is the client's, with the vendor's name of the model", () =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor({ body: good })
      yield* (yield* adapter).complete(accountAt(`${vendor.url}/v1`), order)
      const [request] = yield* vendor.requests
      assert.strictEqual(`${request?.method} ${request?.target}`, "POST /v1/responses")
      assert.deepStrictEqual(JSON.parse(request?.body ?? ""), { model: "m-1", input: "hello" })
    })
  )

  it.effect.each(
    named([
      { says: "counts of both", usage, read: { inputTokens: 3n, outputTokens: 2n } },
      {
        says: "cached tokens",
        usage: { ...usage, input_tokens_details: { cached_tokens: 2 } },
        read: {
          inputTokens: 3n,
          outputTokens: 2n,
          separate: { cachedInput: 2n, audioInput: 0n, audioOutput: 0n }
        }
      },
      { says: "no output count", usage: { input_tokens: 3 }, read: null },
      { says: "a negative count", usage: { ...usage, output_tokens: -1 }, read: null },
      { says: "half a token", usage: { ...usage, input_tokens: 1.5 }, read: null },
      {
        says: "the names of a chat",
        usage: { prompt_tokens: 1, completion_tokens: 1 },
        read: null
      },
      { says: "no usage", usage: null, read: null }
    ])
  )("a response with %s", ([, { usage, read }]) =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor({ body: { ...good, usage } })
      const answer = yield* (yield* adapter).complete(accountAt(vendor.url), order)
      assert.deepStrictEqual(answer, { result: { ...good, usage }, usage: read, outputBytes: 5 })
    })
  )

  it.effect.each(
    named([
      {
        says: "reasoning",
        item: {
          type: "reasoning",
          id: "rs_1",
          summary: [{ type: "summary_text", text: "abc" }],
          encrypted_content: "xyz"
        },
        bytes: 3
      },
      {
        says: "a call",
        item: {
          type: "function_call",
          id: "fc_1",
          call_id: "c1",
          name: "f",
          arguments: "{}",
          status: "completed"
        },
        bytes: 3
      },
      {
        says: "a refusal",
        item: { ...message, content: [{ type: "refusal", refusal: "no" }] },
        bytes: 2
      },
      {
        says: "logprobs",
        item: { ...message, content: [{ ...part, logprobs: [{ token: "hello", bytes: [1] }] }] },
        bytes: 5
      },
      { says: "an unknown item", item: { type: "other", id: "x", words: "abcd" }, bytes: 4 }
    ])
  )("the size of %s is that of its text", ([, { item, bytes }]) =>
    Effect.gen(function* () {
      const whole = { ...good, output: [item], usage: null }
      const vendor = yield* brokenVendor({ body: whole })
      const answer = yield* (yield* adapter).complete(accountAt(vendor.url), order)
      assert.strictEqual(answer.outputBytes, bytes)
      // As a stream of the end alone too.
      const last = event("response.completed", { response: whole })
      assert.strictEqual((yield* streamOf(sse(events(last)))).outputBytes, bytes)
    })
  )

  it.effect.each(
    named([
      { says: "is incomplete", answer: { ...good, status: "incomplete" }, failure: null },
      {
        says: "has failed",
        answer: failed,
        failure: refused(200, null, { effectiveStatus: 502, message: "no" })
      },
      {
        says: "has failed with words",
        answer: { ...failed, output: [message] },
        failure: refused(200, null, { effectiveStatus: 502, message: "no" })
      },
      {
        says: "is running",
        answer: { ...good, status: "in_progress" },
        failure: lost("broken_answer", 200)
      },
      {
        says: "was cancelled",
        answer: { ...good, status: "cancelled", output: [] },
        failure: lost("broken_answer", 200)
      },
      {
        says: "has no output",
        answer: { ...good, output: undefined },
        failure: lost("broken_answer", 200)
      },
      { says: "is a chat", answer: { choices: [] }, failure: lost("broken_answer", 200) }
    ])
  )("a response that %s", ([, { answer, failure }]) =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor({ body: answer })
      const result = yield* Effect.result((yield* adapter).complete(accountAt(vendor.url), order))
      assert.deepStrictEqual(result._tag === "Failure" ? failureOf(result.failure) : null, failure)
      // The same where a stream was ordered.
      assert.deepStrictEqual((yield* streamOf({ body: answer })).failure, failure)
    })
  )

  it.effect("a stream comes as it is, and each text is counted once", () =>
    Effect.gen(function* () {
      const repeats = [
        event("response.output_text.done", { output_index: 0, text: "hello" }),
        event("response.content_part.done", { output_index: 0, part }),
        done
      ]
      const said = `: wait\n\n${events(begun, delta("hel"), delta("lo"), ...repeats, completed)}`
      const { text, outputBytes, usage: counts, failure } = yield* streamOf(sse(said))
      assert.isNull(failure)
      assert.strictEqual(text, said.replace(": wait", ":"))
      assert.strictEqual(outputBytes, 5)
      assert.deepStrictEqual(counts, [{ inputTokens: 3n, outputTokens: 2n }])
    })
  )

  it.effect.each(
    named([
      { says: "an item alone", said: [begun, done] },
      {
        says: "the end of a text alone",
        said: [begun, event("response.output_text.done", { output_index: 0, text: "hello" })]
      },
      { says: "the end of the response alone", said: [begun, completed] },
      {
        says: "an item that is added whole",
        said: [event("response.output_item.added", { output_index: 0, item: message })]
      },
      { says: "half a text and its item", said: [delta("he"), done] },
      {
        says: "a field of the vendor beside the items",
        said: [
          event("response.completed", { response: { ...good, output: [], output_text: "hello" } })
        ]
      },
      {
        says: "an event without a number of its item",
        said: [event("response.strange", { words: "hello" })]
      }
    ])
  )("a text that is sent as %s is counted", ([, { said }]) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* streamOf(sse(events(...said)))).outputBytes, 5)
    })
  )

  it.effect("what is no event of a response is neither sent nor counted", () =>
    Effect.gen(function* () {
      const chunk = JSON.stringify({ choices: [{ index: 0, delta: { content: "hello" } }] })
      const deep = `{"type":"response.x","a":${"[".repeat(1000)}${"]".repeat(1000)}}`
      const { text, outputBytes } = yield* streamOf(
        sse(events(chunk, "words", '"hello"', deep, completed))
      )
      assert.strictEqual(text, events(completed))
      assert.strictEqual(outputBytes, 5)
    })
  )

  it.effect("a response that comes whole is delivered as the events of its texts", () =>
    Effect.gen(function* () {
      for (const reply of [{ body: good }, sse(JSON.stringify(good))]) {
        const { text, usage: counts, outputBytes, failure } = yield* streamOf(reply)
        assert.isNull(failure)
        assert.deepStrictEqual(
          [...text.matchAll(/"type":"(response\.[\w.]+)"/g)].map(([, type]) => type),
          [...textEvents]
        )
        assert.deepStrictEqual(counts, [{ inputTokens: 3n, outputTokens: 2n }])
        assert.strictEqual(outputBytes, 5)
      }
    })
  )

  const no = { code: "server_error", message: `no ${API_KEY}` }
  const told = refused(200, null, { effectiveStatus: 502, message: "no [redacted]" })
  it.effect.each(
    named([
      { says: "an error event at once", said: [event("error", no)], bytes: 0 },
      {
        says: "an error event after words",
        said: [begun, delta("hel"), event("error", no), delta("lo")],
        bytes: 3
      },
      {
        says: "an error in the form of an answer",
        said: [event("error", { error: no })],
        bytes: 0
      },
      {
        says: "a failed response",
        said: [begun, event("response.failed", { response: { ...failed, error: no } })],
        bytes: 0
      },
      {
        says: "a failed response after words",
        said: [
          begun,
          delta("hel"),
          event("response.failed", { response: { ...failed, error: no, output: [message] } })
        ],
        bytes: 3
      }
    ])
  )("%s ends a stream in the vendor's words, our key hidden", ([, { said, bytes }]) =>
    Effect.gen(function* () {
      const { failure, outputBytes, text } = yield* streamOf(sse(events(...said)))
      assert.deepStrictEqual(failure, told)
      assert.strictEqual(outputBytes, bytes)
      assert.notInclude(text, "no ")
      assert.notInclude(text, '"lo"')
    })
  )

  it.effect("an error before any event has the meaning of its code", () =>
    Effect.gen(function* () {
      const busy = { code: "rate_limit_exceeded", message: "slow down" }
      const first = yield* streamOf(sse(events(event("error", busy))))
      assert.deepInclude(first.failure, { _tag: "VendorRefused", effectiveStatus: 429 })
      const later = yield* streamOf(sse(events(delta("a"), event("error", busy))))
      assert.deepInclude(later.failure, { _tag: "VendorRefused", effectiveStatus: 502 })
    })
  )

  it.effect.each(
    named([
      { says: "nothing", reply: sse(""), failure: lost("broken_answer", 200) },
      { says: "its end alone", reply: sse(events("[DONE]")), failure: lost("broken_answer", 200) },
      { says: "a beginning", reply: sse(events(begun)), failure: lost("broken_answer", 200) },
      {
        says: "half a stream",
        reply: sse(events(begun, delta("a"))),
        failure: lost("broken_answer", 200)
      },
      {
        says: "half a stream and [DONE]",
        reply: sse(events(delta("a"), "[DONE]")),
        failure: lost("broken_answer", 200)
      },
      {
        says: "a page",
        reply: { headers: { "content-type": "text/html" }, body: "<p>" },
        failure: lost("broken_answer", 200)
      },
      {
        says: "a refusal",
        reply: { status: 400, body: { error: { message: "no" } } },
        failure: refused(400, { error: { message: "no" } }, { message: "no" })
      },
      { says: "a reset", reply: "reset" as const, failure: lost("connection_lost") },
      { says: "a cut answer", reply: "cut" as const, failure: lost("connection_lost", 200) }
    ])
  )("a stream that is %s fails", ([, { reply, failure }]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* streamOf(reply)).failure, failure)
    })
  )

  it.effect("nothing of a stream was sent to a closed port", () =>
    Effect.gen(function* () {
      const { failure } = yield* streamFrom(yield* closedPort)
      assert.deepStrictEqual(failure, { _tag: "VendorUnreachable" })
    })
  )
})
