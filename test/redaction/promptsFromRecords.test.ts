import { assert, describe, it } from "@effect/vitest"
import { UpstreamError } from "../../src/domain/Errors.ts"
import { storableRefusal } from "../../src/redaction/promptsFromRecords.ts"

const prompt = 'zebras "crossing" at dusk'
const requestOf = (content: unknown, more: object = {}) => ({
  model: "talk-model-1",
  messages: [{ role: "assistant", content }],
  ...more
})

const refusalOf = (message: string, body: unknown = { error: { message } }) =>
  new UpstreamError({
    message,
    status: 400,
    upstream: { status: 422, body },
    retryable: true,
    unpaid: true,
    retryAfterSeconds: null
  })

const kept = (error: UpstreamError, request: unknown) => {
  const { message, upstream } = storableRefusal(error, request)
  return { message, body: upstream.body }
}

describe("of a refusal there is kept", () => {
  it.each([
    ["size", "size"],
    ["zebras", null]
  ])("the field %s as %s", (param, stored) => {
    const error = new UpstreamError({ ...refusalOf("no"), message: "no", param })
    assert.strictEqual(storableRefusal(error, requestOf("zebras")).param, stored)
    const tooLong = requestOf("zebras at dusk ".repeat(7000))
    assert.isNull(storableRefusal(error, tooLong).param)
  })

  it("all of one that repeats nothing", () => {
    const error = refusalOf("messages: the role assistant of talk-model-1 cannot come first", {
      error: { message: "no", type: "invalid_request_error", param: null, code: 1210 }
    })
    assert.deepStrictEqual(kept(error, requestOf(prompt)), {
      message: error.message,
      body: error.upstream.body
    })
  })

  it.each([
    ["in the words", prompt],
    ["in quoted words", JSON.stringify(prompt)],
    ["in an address", encodeURIComponent(prompt)]
  ])("no text of the request %s", (_, quote) => {
    assert.deepStrictEqual(kept(refusalOf(`Refused: ${quote}`), requestOf(prompt)), {
      message: quote.startsWith('"') ? 'Refused: "[…]"' : "Refused: […]",
      body: null
    })
  })

  it.each([
    ["a field", { error: { message: "no", input: { text: prompt } } }],
    ["the name of a field", { [prompt]: "is not allowed" }],
    ["a list", [prompt]],
    ["no JSON", `no: ${prompt}`],
    ["something long", { message: "no ".repeat(1000) }]
  ])("no body that repeats a text in %s", (_, body) => {
    assert.deepStrictEqual(kept(refusalOf("no", body), requestOf(prompt)), {
      message: "no",
      body: null
    })
  })

  it.each([
    ["a content part", requestOf([{ type: "text", text: prompt }])],
    ["a tool", requestOf("x", { tools: [{ function: { description: prompt } }] })],
    ["two pieces of a long text", requestOf(`${"long ".repeat(3198)}:${prompt}`)],
    ["the end of a long text", requestOf(`${"long ".repeat(9000)}:${prompt}`)],
    [
      "many messages",
      { messages: Array.from({ length: 500 }, (_, index) => `${prompt} ${index}`) }
    ],
    ["an embedding's list", { model: "vector", input: ["x", prompt] }],
    [
      "a text beside media",
      requestOf([{ url: `data:image/png;base64,${"A".repeat(500_000)}` }, prompt])
    ]
  ])("no text from %s", (_, request) => {
    assert.strictEqual(kept(refusalOf(`Refused: ${prompt}`), request).message, "Refused: […]")
  })

  it("no short text", () => {
    const { message } = kept(refusalOf("Refused: hunter22"), requestOf("hunter22"))
    assert.strictEqual(message, "Refused: […]")
  })

  it.each([
    ["long", requestOf(`${"words ".repeat(20_000)}${prompt}`)],
    ["full of texts", { input: Array.from({ length: 10_000 }, (_, index) => `text ${index}`) }]
  ])("only the status where the request is too %s to be looked for", (_, request) => {
    assert.deepStrictEqual(kept(refusalOf(`Refused: ${prompt}`), request), {
      message: "The vendor answered HTTP 422",
      body: null
    })
  })
})
