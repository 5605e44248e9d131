/** What the README promises to users of the official `openai` package. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import OpenAI from "openai"
import { zodFunction, zodResponseFormat } from "openai/helpers/zod"
import { z } from "zod"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { done, openaiOf, rejection } from "../support/officialClients.ts"
import { textCatalog } from "../support/textCatalog.ts"

interface Task {
  readonly id: string
  readonly task_status: "processing" | "succeeded" | "failed"
  readonly content?: { readonly video_url: string }
  readonly error?: { readonly code: string; readonly message: string }
}

const asked = [{ role: "user" as const, content: "a lighthouse at dusk" }]

/** Of vp_a. */
const DURATIONS = { min: 5, max: 15, default: 5, smart: false }
const RESOLUTIONS = ["480p", "720p", "1080p", "4K"]

const Weather = z.strictObject({ city: z.string(), days: z.int().min(1).max(7) })

const forecast = {
  type: "function" as const,
  function: { name: "forecast", parameters: z.toJSONSchema(Weather) }
}
const clock = { type: "function" as const, function: { name: "clock" } }

/** A PNG begins with these bytes. */
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47])

layer(layerTestGateway("postgres", quickSettings, { catalogFor: textCatalog() }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("the openai package", (it) => {
  it.effect("lists the models, with what they are for", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const client = yield* openaiOf(yield* gateway.customer("0"))
      const listed = yield* done(async () => {
        const modalities = new Map<string, unknown>()
        for await (const model of client.models.list()) {
          assert.strictEqual(model.object, "model")
          modalities.set(model.id, "modality" in model ? model.modality : null)
        }
        return modalities
      })
      assert.strictEqual(listed.get("film-1"), "video")
      assert.strictEqual(listed.get("look-1"), "vlm")
      const filtered = yield* done(() => client.models.list({ query: { modality: "image" } }))
      assert.include(
        filtered.data.map(({ id }) => id),
        "paint-1"
      )
      assert.notInclude(
        filtered.data.map(({ id }) => id),
        "film-1"
      )
    })
  )

  it.effect("reads one model, with what can be ordered of it", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const client = yield* openaiOf(yield* gateway.customer("0"))
      const film = yield* done(() => client.models.retrieve("film-1"))
      const listed = yield* done(() => client.models.list())
      assert.deepStrictEqual(
        film,
        listed.data.find(({ id }) => id === "film-1")
      )
      assert.strictEqual(film.object, "model")
      assert.deepStrictEqual("durations" in film ? film.durations : null, DURATIONS)
      assert.deepStrictEqual("resolutions" in film ? film.resolutions : null, RESOLUTIONS)
      assert.containsAllKeys("parameters" in film ? film.parameters : {}, ["seed", "watermark"])
      const error = yield* rejection(() => client.models.retrieve("film-2"))
      assert.instanceOf(error, OpenAI.NotFoundError)
      assert.strictEqual(error.code, "model_not_found")
    })
  )

  it.effect("makes images, as addresses and in base64", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const client = yield* openaiOf(who)
      const linked = yield* done(() =>
        client.images.generate({ model: "paint-1", prompt: "a lighthouse", n: 2, size: "256x256" })
      )
      assert.strictEqual(linked.data?.length, 2)
      assert.match(linked.data?.[0]?.url ?? "", /^http:/)
      const inline = yield* done(() =>
        client.images
          .generate({
            model: "paint-1",
            prompt: "a lighthouse",
            size: "256x256",
            response_format: "b64_json"
          })
          .withResponse()
      )
      const bytes = Buffer.from(inline.data.data?.[0]?.b64_json ?? "", "base64")
      assert.isTrue(bytes.subarray(0, 4).equals(PNG))
      assert.match(inline.request_id ?? "", /^req_/)
      assert.strictEqual((yield* gateway.balance(who)).balance, "9.4")
    })
  )

  it.effect("has a text written, as a whole and bit by bit", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const client = yield* openaiOf(yield* gateway.customer("10"))
      const whole = yield* done(() =>
        client.chat.completions.create({ model: "talk-1", messages: asked })
      )
      const [choice] = whole.choices
      assert.strictEqual(choice?.finish_reason, "stop")
      assert.isAbove(whole.usage?.completion_tokens ?? 0, 0)
      for (const wanted of [true, false]) {
        const chunks = yield* done(async () => {
          const stream = await client.chat.completions.create({
            model: "talk-1",
            messages: asked,
            stream: true,
            ...(wanted ? { stream_options: { include_usage: true } } : {})
          })
          const read: Array<OpenAI.ChatCompletionChunk> = []
          for await (const chunk of stream) read.push(chunk)
          return read
        })
        const deltas = chunks.flatMap(({ choices }) => choices[0]?.delta.content ?? [])
        assert.isAbove(deltas.length, 2)
        assert.strictEqual(deltas.join(""), choice?.message.content)
        assert.deepEqual(
          chunks.flatMap(({ usage }) => usage ?? []),
          wanted ? [whole.usage] : []
        )
      }
    })
  )

  it.effect("gathers a streamed text by its own helper", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const client = yield* openaiOf(yield* gateway.customer("10"))
      const gathered = yield* done(() =>
        client.chat.completions.stream({ model: "talk-1", messages: asked }).finalContent()
      )
      assert.isAbove(gathered?.length ?? 0, 0)
    })
  )

  it.effect("calls tools, streamed and whole, and answers their results with a text", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const client = yield* openaiOf(yield* gateway.customer("10"))
      const order = { model: "talk-1", tools: [clock, forecast] }
      const ends: Array<string> = []
      const runner = client.chat.completions.runTools({
        model: "talk-1",
        messages: [{ role: "user", content: "ask forecast" }],
        tools: [
          zodFunction({
            name: "forecast",
            parameters: Weather,
            function: ({ city, days }) => `${city} for ${days} days`
          })
        ]
      })
      runner.on("message", (message) => ends.push(message.role))
      const final = yield* done(() => runner.finalContent())
      assert.isAbove(final?.length ?? 0, 0)
      assert.deepStrictEqual(ends, ["assistant", "tool", "assistant"])

      const messages = [{ role: "user" as const, content: "forecast and clock" }]
      const whole = yield* done(() => client.chat.completions.create({ ...order, messages }))
      const [choice] = whole.choices
      assert.strictEqual(choice?.finish_reason, "tool_calls")
      assert.isNull(choice?.message.content)
      const called = (message: OpenAI.ChatCompletionMessage | undefined) =>
        (message?.tool_calls ?? []).flatMap((call) =>
          call.type === "function" ? [call.function.name] : []
        )
      assert.deepStrictEqual(called(choice?.message), ["clock", "forecast"])
      const streamed = yield* done(() =>
        client.chat.completions
          .stream({ ...order, messages, stream_options: { include_usage: true } })
          .finalChatCompletion()
      )
      assert.deepEqual(
        streamed.choices[0]?.message.tool_calls?.map(({ id }) => id),
        choice?.message.tool_calls?.map(({ id }) => id)
      )
      assert.deepEqual(called(streamed.choices[0]?.message), ["clock", "forecast"])
      assert.deepEqual(streamed.usage, whole.usage)

      const endOf = (more: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming>) =>
        done(async () => {
          const body = { ...order, messages, ...more }
          const { choices } = await client.chat.completions.create(body)
          return [choices[0]?.finish_reason, ...called(choices[0]?.message)]
        })
      const named = { type: "function" as const, function: { name: "forecast" } }
      const told = [...messages, { role: "assistant" as const, content: "yes" }]
      assert.deepStrictEqual(yield* endOf({ tool_choice: "none" }), ["stop"])
      assert.deepStrictEqual(yield* endOf({ messages: told }), ["stop"])
      assert.deepStrictEqual(yield* endOf({ messages: asked }), ["tool_calls", "clock"])
      assert.deepStrictEqual(yield* endOf({ tool_choice: named }), ["tool_calls", "forecast"])
      assert.deepStrictEqual(
        yield* endOf({ messages: told, tool_choice: "required", parallel_tool_calls: false }),
        ["tool_calls", "clock"]
      )
      assert.deepStrictEqual(yield* endOf({ max_tokens: 3 }), ["length", "clock"])
      const { data, response } = yield* done(() =>
        client.chat.completions
          .create({
            model: "talk-1",
            messages,
            tools: [{ type: "custom", custom: { name: "shell" } }]
          })
          .withResponse()
      )
      assert.strictEqual(response.status, 200)
      const [custom] = data.choices[0]?.message.tool_calls ?? []
      assert.strictEqual(custom?.type, "custom")
      assert.strictEqual(
        data.usage?.completion_tokens,
        2 + (custom?.type === "custom" ? custom.custom.input.split(" ").length : 0)
      )
    })
  )

  it.effect("gets JSON of its schema, streamed and whole", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const client = yield* openaiOf(yield* gateway.customer("10"))
      const response_format = zodResponseFormat(Weather, "weather")
      const order = { model: "talk-1", messages: asked, response_format }
      const whole = yield* done(() => client.chat.completions.parse({ ...order, n: 2 }))
      for (const { message } of whole.choices) {
        assert.isTrue(Weather.safeParse(message.parsed).success)
      }
      assert.notStrictEqual(whole.choices[0]?.message.content, whole.choices[1]?.message.content)
      const streamed = yield* done(() =>
        client.chat.completions.stream(order).finalChatCompletion()
      )
      assert.deepStrictEqual(streamed.choices[0]?.message.parsed, whole.choices[0]?.message.parsed)
      const object = yield* done(() =>
        client.chat.completions.create({ ...order, response_format: { type: "json_object" } })
      )
      assert.isObject(JSON.parse(object.choices[0]?.message.content ?? ""))
    })
  )

  it.effect("gets log probabilities of each token, up to its stop sequence", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const client = yield* openaiOf(yield* gateway.customer("10"))
      const order = { model: "talk-1", messages: asked }
      const plain = yield* done(() => client.chat.completions.create(order))
      const text = plain.choices[0]?.message.content ?? ""
      const stop = text.slice(-5)
      const likely = { ...order, stop, logprobs: true, top_logprobs: 20 }
      const whole = yield* done(() => client.chat.completions.create(likely))
      const [choice] = whole.choices
      assert.strictEqual(choice?.message.content, text.slice(0, text.indexOf(stop)))
      assert.strictEqual(choice?.finish_reason, "stop")
      const tokens = choice?.logprobs?.content ?? []
      assert.strictEqual(tokens.map(({ token }) => token).join(""), choice?.message.content)
      assert.strictEqual(whole.usage?.completion_tokens, tokens.length)
      for (const { token, logprob, bytes, top_logprobs } of tokens) {
        assert.strictEqual(Buffer.from(bytes ?? []).toString(), token)
        assert.deepInclude(top_logprobs[0], { token, logprob })
        assert.strictEqual(new Set(top_logprobs.map((one) => one.token)).size, 20)
        const sum = top_logprobs.reduce((total, one) => total + Math.exp(one.logprob), 0)
        assert.isBelow(sum, 1.0001)
      }
      const streamed = yield* done(() =>
        client.chat.completions.stream(likely).finalChatCompletion()
      )
      assert.deepEqual(streamed.choices[0]?.logprobs?.content, tokens)
      assert.isNull(plain.choices[0]?.logprobs ?? null)
    })
  )

  it.effect("shows images to a model that sees", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const client = yield* openaiOf(yield* gateway.customer("10"))
      const seen = yield* done(() =>
        client.chat.completions.create({
          model: "look-1",
          messages: [
            {
              role: "user",
              content: [
                { type: "text", text: "what is this?" },
                { type: "image_url", image_url: { url: "https://media.test/a.png" } },
                { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }
              ]
            }
          ]
        })
      )
      assert.strictEqual(seen.usage?.prompt_tokens, 177)
    })
  )

  it.effect("gets vectors, packed on the wire unless they are asked for as numbers", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const client = yield* openaiOf(yield* gateway.customer("10"))
      yield* gateway.simulator.clearRequests
      const input = ["one", "two"]
      const usual = yield* done(() => client.embeddings.create({ model: "vector-1", input }))
      const plain = yield* done(() =>
        client.embeddings.create({ model: "vector-1", input, encoding_format: "float" })
      )
      const packed = yield* done(() =>
        client.embeddings.create({ model: "vector-1", input, encoding_format: "base64" })
      )
      assert.deepEqual(
        (yield* gateway.simulator.requests).map(({ body }) =>
          typeof body === "object" && body !== null && "encoding_format" in body
            ? body.encoding_format
            : null
        ),
        ["base64", "float", "base64"]
      )
      assert.strictEqual(plain.data.length, 2)
      for (const [index, { embedding }] of plain.data.entries()) {
        assert.strictEqual(embedding.length, 8)
        assert.deepEqual(
          [...(usual.data[index]?.embedding ?? [])],
          embedding.map((number) => Math.fround(number))
        )
      }
      assert.isString(packed.data[0]?.embedding)
      assert.deepEqual(usual.usage, plain.usage)
    })
  )

  it.effect("orders a video and waits for it by plain calls", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const client = yield* openaiOf(yield* gateway.customer("100"))
      const order = (prompt: string) =>
        done(async () => {
          const { id } = await client.post<Task>("/videos/generations", {
            body: { model: "film-1", prompt, duration: 5, resolution: "720p" }
          })
          return await client.get<Task>(`/videos/${id}`, { query: { wait: 30 } })
        })
      const made = yield* order("a lighthouse")
      assert.strictEqual(made.task_status, "succeeded")
      assert.match(made.content?.video_url ?? "", /^http:/)
      const failed = yield* order("a lighthouse sim:fail")
      assert.strictEqual(failed.task_status, "failed")
      assert.isAbove(failed.error?.message.length ?? 0, 0)
    })
  )

  it.effect("learns in mid-stream what became of the rest", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const client = yield* openaiOf(yield* gateway.customer("10"))
      const words: Array<string> = []
      const error = yield* rejection(async () => {
        const stream = await client.chat.completions.create({
          model: "talk-1",
          messages: [{ role: "user", content: "x sim:breaks=4" }],
          stream: true
        })
        for await (const { choices } of stream) words.push(choices[0]?.delta.content ?? "")
      })
      assert.isAbove(words.join("").length, 0)
      assert.instanceOf(error, OpenAI.APIError)
      assert.deepInclude(error, { code: "upstream_error", type: "upstream_error", param: null })
      assert.match(error.requestID ?? "", /^req_/)
    })
  )

  it.effect("leaves books that hold", () => Effect.flatMap(Gateway, (gateway) => gateway.verify))
})
