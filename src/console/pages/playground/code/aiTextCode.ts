/** A text as source code for the AI SDK, by either API, and what its other calls share. */
import { isObject, omitFields, type Sample, script } from "./samples.ts"

type Options = Readonly<Record<string, unknown>>

export const aiHead = (origin: string, names: string) => `import { ${names} } from "ai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"

const gateway = createOpenAICompatible({
  name: "gateway",
  baseURL: "${origin}/v1",
  apiKey: process.env.GATEWAY_KEY,
  includeUsage: true
})
`

/** The provider whose models call the Responses API. */
const aiResponseHead = (origin: string, name: string) => `import { ${name} } from "ai"
import { createOpenAI } from "@ai-sdk/openai"

const gateway = createOpenAI({ baseURL: "${origin}/v1", apiKey: process.env.GATEWAY_KEY })
`

const isMessage = (value: unknown): value is { readonly role: string; readonly content: unknown } =>
  isObject(value) && typeof value.role === "string" && "content" in value

const aiPart = (part: unknown): unknown => {
  if (!isObject(part)) return part
  if (part.type === "input_text") return { type: "text", text: part.text }
  const data = isObject(part.image_url) ? part.image_url.url : part.image_url
  return data === undefined ? part : { type: "file", mediaType: "image/png", data }
}

/**
 * The messages in the form of the AI SDK, which has separate instructions and other content parts
 * for images.
 */
const aiMessages = (messages: unknown, firstInstructions: ReadonlyArray<unknown> = []) => {
  const all = Array.isArray(messages) ? messages.filter(isMessage) : []
  const instructions = [
    ...firstInstructions,
    ...all.flatMap(({ role, content }) => (role === "system" ? [content] : []))
  ]
  return {
    ...(instructions.length === 0 ? {} : { instructions: instructions.join("\n") }),
    messages: all
      .filter(({ role }) => role !== "system")
      .map((message) =>
        Array.isArray(message.content)
          ? { ...message, content: message.content.map(aiPart) }
          : message
      )
  }
}

/** Options of a provider, by the name that it has in the call. */
export const aiOptions = (options: Options, provider = "gateway") =>
  Object.keys(options).length === 0 ? {} : { providerOptions: { [provider]: options } }

export const aiCall = (model: string, options: Options): string =>
  Object.entries(options)
    .map(([name, value]) => `,\n  ${name}: ${script(value, "  ")}`)
    .join("")
    .replace(/^/, `{\n  model: ${model}`)
    .concat("\n}")

/** A value as an option of the call; none where there is no value. */
const option = (name: string, value: unknown) => (value === undefined ? {} : { [name]: value })

const aiText = (
  { origin, order: { body } }: Sample,
  head: typeof aiHead,
  options: Options
): string => {
  const callText = aiCall(`gateway(${JSON.stringify(body.model)})`, options)
  return body.stream === true
    ? `${head(origin, "streamText")}
const { textStream } = streamText(${callText})
for await (const piece of textStream) process.stdout.write(piece)`
    : `${head(origin, "generateText")}
const { text } = await generateText(${callText})
console.log(text)`
}

export const aiChat = (sample: Sample): string => {
  const { body } = sample.order
  return aiText(sample, aiHead, {
    ...aiMessages(body.messages),
    ...option("maxOutputTokens", body.max_tokens),
    ...aiOptions(omitFields(body, "model", "messages", "max_tokens", "stream", "stream_options"))
  })
}

export const aiResponse = (sample: Sample): string => {
  const { input, instructions, max_output_tokens, temperature, top_p, metadata } = sample.order.body
  return aiText(sample, aiResponseHead, {
    ...(typeof input === "string"
      ? { ...option("instructions", instructions), prompt: input }
      : aiMessages(input, instructions === undefined ? [] : [instructions])),
    ...option("maxOutputTokens", max_output_tokens),
    ...option("temperature", temperature),
    ...option("topP", top_p),
    ...aiOptions(option("metadata", metadata), "openai")
  })
}
