/**
 * The order in the form as source code. The code reads the API key from the environment and never
 * contains it.
 */

import { shell } from "../../../parts/shellText.ts"
import { isTextKind, type Order, type OrderKind } from "../form/draft.ts"
import { aiCall, aiChat, aiHead, aiOptions, aiResponse } from "./aiTextCode.ts"
import { omitFields, type Sample, script } from "./samples.ts"
import {
  aiTranscription,
  curlTranscription,
  IMPORT_READ,
  IMPORT_STREAM,
  openaiTranscription,
  typedTranscription,
  typedTranscriptionImport
} from "./transcriptionCode.ts"

type Language = "curl" | "openai" | "ai" | "typed"

const LONGEST_URL = 200
const MAX_URL_PREFIX = 40

/** The value with long `data:` URLs shortened, as they would fill the page. */
const shortenUrls = (value: unknown): unknown => {
  if (typeof value === "string") {
    return value.startsWith("data:") && value.length > LONGEST_URL
      ? `${value.slice(0, MAX_URL_PREFIX)}…`
      : value
  }
  if (Array.isArray(value)) return value.map(shortenUrls)
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [name, shortenUrls(part)])
    )
  }
  return value
}

/** The file into which the code writes a sound. */
const soundFile = (order: Order): string => `speech.${order.soundFormat}`

const IMPORT_WRITE = `import { writeFile } from "node:fs/promises"
`

const curl = (sample: Sample): string => {
  const { origin, order, key } = sample
  const { kind, path, body } = order
  const options = body.stream === true ? "-sSN" : "-sS"
  const head = `URL='${origin}'
AUTH="authorization: Bearer $GATEWAY_KEY"
`
  if (kind === "asr") return `${head}${curlTranscription(sample)}`
  const curlCommand = `curl ${options} --fail-with-body "$URL${path}" \\
  -H "$AUTH" -H "content-type: application/json" \\
  -H "idempotency-key: ${key}" \\
  -d ${shell(JSON.stringify(body, null, 2))}${
    kind === "tts"
      ? ` \\
  -o ${soundFile(order)}`
      : ""
  }`
  if (kind !== "video") return `${head}${curlCommand}`
  return `${head}
ID=$(${curlCommand} | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')

# held until the video ends, for 60 seconds at most
curl -sS --fail-with-body "$URL/v1/videos/$ID?wait=60" -H "$AUTH"
curl -sS --fail-with-body "$URL/v1/videos/$ID/content" \\
  -H "$AUTH" -o "$ID.mp4"`
}

const openaiEnds = {
  video: (body: string) => `const task = await client.post("/videos/generations", { body: ${body} })
const done = await client.get(\`/videos/\${task.id}\`, { query: { wait: 60 } })
console.log(done.task_status, done.content?.video_url)`,
  image: (body: string) => `const images = await client.images.generate(${body})
console.log(images.data.map(({ url }) => url))`,
  chat: (body: string) => `const chat = await client.chat.completions.create(${body})
console.log(chat.choices[0].message.content)`,
  response: (body: string) => `const response = await client.responses.create(${body})
console.log(response.output_text)`,
  embedding: (body: string) => `const vectors = await client.embeddings.create(${body})
console.log(vectors.data.map(({ embedding }) => embedding))`,
  rerank: (body: string) => `const ranking = await client.post("/rerank", { body: ${body} })
console.log(ranking.results)`,
  tts: (body: string, order: Order) => `const speech = await client.audio.speech.create(${body})
await writeFile("${soundFile(order)}", Buffer.from(await speech.arrayBuffer()))`,
  asr: (_: string, order: Order) => openaiTranscription(order)
} as const

const openaiStreams: Partial<Record<OrderKind, (body: string) => string>> = {
  chat: (body) => `const stream = await client.chat.completions.create(${body})
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "")`,
  response: (body) => `const stream = await client.responses.create(${body})
for await (const event of stream) {
  if (event.type === "response.output_text.delta") process.stdout.write(event.delta)
}`
}

const openai = ({ origin, order }: Sample): string => {
  const { kind, body } = order
  const end = (body.stream === true ? openaiStreams[kind] : undefined) ?? openaiEnds[kind]
  const imports = kind === "tts" ? IMPORT_WRITE : kind === "asr" ? IMPORT_STREAM : ""
  return `${imports}import OpenAI from "openai"

// its repeats after a lost connection are one order
class Client extends OpenAI {
  idempotencyHeader = "Idempotency-Key"
}

const client = new Client({ baseURL: "${origin}/v1", apiKey: process.env.GATEWAY_KEY })

${end(script(body), order)}`
}

const aiVideo = ({
  origin,
  order: { body },
  key
}: Sample): string => `// the package has no videos of such providers: an order is one request
const ask = (path, init) =>
  fetch(\`${origin}/v1\${path}\`, {
    ...init,
    headers: {
      authorization: \`Bearer \${process.env.GATEWAY_KEY}\`,
      "content-type": "application/json",
      "idempotency-key": "${key}"
    }
  }).then((response) => response.json())

const order = ${script(body)}
const task = await ask("/videos/generations", { method: "POST", body: JSON.stringify(order) })
const done = await ask(\`/videos/\${task.id}?wait=60\`)
console.log(done.task_status, done.content?.video_url)`

/** An order that the package cannot place, as a plain request. */
const plainRequest = ({
  origin,
  order: { path, body },
  key
}: Sample): string => `const order = ${script(body)}
const response = await fetch("${origin}${path}", {
  method: "POST",
  headers: {
    authorization: \`Bearer \${process.env.GATEWAY_KEY}\`,
    "content-type": "application/json",
    "idempotency-key": "${key}"
  },
  body: JSON.stringify(order)
})
if (!response.ok) throw new Error(await response.text())`

const aiRerank = (
  sample: Sample
): string => `// the package has no rankings of such providers: an order is one request
${plainRequest(sample)}
const { results } = await response.json()
console.log(results)`

const aiSpeech = (sample: Sample): string => `${IMPORT_WRITE}
// the package has no speech of such providers: an order is one request
${plainRequest(sample)}
await writeFile("${soundFile(sample.order)}", Buffer.from(await response.arrayBuffer()))`

const aiImage = ({ origin, order: { body } }: Sample): string => {
  const extraOptions = {
    ...omitFields(body, "model", "prompt", "n", "size"),
    response_format: "b64_json"
  }
  const { prompt, n, size } = body
  return `${aiHead(origin, "generateImage")}
const { images } = await generateImage(${aiCall(
    `gateway.imageModel(${JSON.stringify(body.model)})`,
    {
      prompt,
      ...(n === undefined ? {} : { n }),
      ...(size === undefined ? {} : { size }),
      ...aiOptions(extraOptions)
    }
  )})
console.log(images.map(({ mediaType, uint8Array }) => [mediaType, uint8Array.length]))`
}

const aiEmbedding = ({ origin, order: { body } }: Sample): string => {
  const values = [body.input].flat()
  return `${aiHead(origin, "embedMany")}
const { embeddings } = await embedMany(${aiCall(
    `gateway.embeddingModel(${JSON.stringify(body.model)})`,
    {
      values,
      ...aiOptions(omitFields(body, "model", "input"))
    }
  )})
console.log(embeddings)`
}

const aiWriters = {
  video: aiVideo,
  image: aiImage,
  chat: aiChat,
  response: aiResponse,
  embedding: aiEmbedding,
  rerank: aiRerank,
  tts: aiSpeech,
  asr: aiTranscription
} as const

const ai = (sample: Sample): string => aiWriters[sample.order.kind](sample)

const typedCalls = {
  video: (payload: string, headers: string) => `const { id } = yield* gateway.videos.create({
    payload: ${payload},
    headers: ${headers}
  })
  const video = yield* waitForVideo(id)
  yield* Console.log(video)`,
  image: (payload: string, headers: string) => `const images = yield* gateway.images.generate({
    payload: ${payload},
    headers: ${headers}
  })
  yield* Console.log(images)`,
  chat: (payload: string, headers: string) => `const answer = yield* gateway.texts.chat({
    payload: ${payload},
    headers: ${headers}
  })
  yield* Stream.isStream(answer)
    ? Stream.runForEach(answer, ({ data }) => Console.log(data))
    : Console.log(answer)`,
  response: (payload: string, headers: string) => `const answer = yield* gateway.responses.create({
    payload: ${payload},
    headers: ${headers}
  })
  yield* Stream.isStream(answer)
    ? Stream.runForEach(answer, ({ data }) => Console.log(data))
    : Console.log(JSON.stringify(answer.output))`,
  embedding: (payload: string, headers: string) => `const vectors = yield* gateway.texts.embed({
    payload: ${payload},
    headers: ${headers}
  })
  yield* Console.log(vectors)`,
  rerank: (payload: string, headers: string) => `const ranking = yield* gateway.texts.rerank({
    payload: ${payload},
    headers: ${headers}
  })
  yield* Console.log(ranking.results)`,
  tts: (
    payload: string,
    headers: string,
    order: Order
  ) => `const speech = yield* gateway.audio.speech({
    payload: ${payload},
    headers: ${headers}
  })
  const bytes = yield* Stream.mkUint8Array(speech)
  yield* Effect.promise(() => writeFile("${soundFile(order)}", bytes))`,
  asr: (_: string, headers: string, order: Order) => typedTranscription(order, headers)
} as const

const typedClient = ({ origin, order, key }: Sample): string => {
  const { kind, body } = order
  const headers = `{ "idempotency-key": "${key}" }`
  const isStreamed = isTextKind(kind) || kind === "tts"
  const imports =
    kind === "tts"
      ? IMPORT_WRITE
      : kind === "asr"
        ? `${IMPORT_READ}${typedTranscriptionImport(order)}`
        : ""
  return `${imports}import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Config, Console, Effect, Layer${isStreamed ? ", Stream" : ""} } from "effect"
import { layer, MediaGateway${kind === "video" ? ", waitForVideo" : ""} } from "media-gateway/client"

const layerClient = Layer.unwrap(
  Effect.map(Config.Redacted("GATEWAY_KEY"), (apiKey) => layer({ baseUrl: "${origin}", apiKey }))
).pipe(Layer.provide(NodeHttpClient.layerUndici))

const program = Effect.gen(function* () {
  const gateway = yield* MediaGateway
  ${typedCalls[kind](script(body, "    "), headers, order)}
})

NodeRuntime.runMain(program.pipe(Effect.provide(layerClient)))`
}

const writers = { curl, openai, ai, typed: typedClient } as const

export const sampleCode = (language: Language, { order, ...sample }: Sample): string =>
  writers[language]({
    ...sample,
    order: {
      ...order,
      body: Object.fromEntries(
        Object.entries(order.body).map(([name, value]) => [name, shortenUrls(value)])
      )
    }
  })
