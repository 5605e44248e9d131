/** Orders of the models of ip_b, and the forms of its answers. */
import { Schema } from "effect"
import { read, send } from "./support.ts"

export const path = "/ip_b/api/v1/services/aigc/multimodal-generation/generation"

export const image = { image: "https://x.test/a.png" }
export const message = (...content: ReadonlyArray<object>) => ({
  messages: [{ role: "user", content }]
})
export const order = (
  prompt: string,
  parameters: object = {},
  model = "wan2.6-t2i",
  references = 0
) => ({
  model,
  input: message(...Array<object>(references).fill(image), { text: prompt }),
  parameters: { n: 1, ...parameters }
})

const Item = Schema.Struct({
  type: Schema.optionalKey(Schema.String),
  image: Schema.optionalKey(Schema.String),
  text: Schema.optionalKey(Schema.String)
})
const Choices = Schema.Array(
  Schema.Struct({ message: Schema.Struct({ content: Schema.Array(Item) }) })
)
const Answer = Schema.Struct({ output: Schema.Struct({ choices: Choices }) })
export const Failure = Schema.Struct({ code: Schema.String, message: Schema.String })

/** What each choice of an answer holds. */
export const contentsOf = (answer: { readonly text: string }) =>
  read(Answer, answer).output.choices.map(({ message }) => message.content)
export const post = (body: unknown) => send("POST", path, { body })
