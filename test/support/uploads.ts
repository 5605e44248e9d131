/** Files that a customer uploads, as a form by hand or by the `openai` package. */
import { Effect, Schema } from "effect"
import { type Customer, Gateway } from "./gateway.ts"

export const PNG = Buffer.concat([
  Buffer.from("89504e470d0a1a0a", "hex"),
  Buffer.alloc(2000, "picture")
])
export const MP3 = Buffer.concat([Buffer.from("ID3"), Buffer.alloc(3000, "sound")])

export const fileNamed = (name: string, bytes: Uint8Array, type = "") =>
  new File([new Uint8Array(bytes)], name, { type })

/** The parts of a form in their order. */
export type Parts = ReadonlyArray<readonly [name: string, value: string | File]>

/** The form that uploads one file and says nothing else. */
export const formOf = (bytes: Uint8Array, name = "a.bin"): Parts => [
  ["purpose", "user_data"],
  ["file", fileNamed(name, bytes)]
]

const Body = Schema.Record(Schema.String, Schema.Unknown)

/** Sends a form; its text is the answer's, and its body what JSON there is. */
export const sendForm = (who: Customer, parts: Parts) =>
  Effect.flatMap(Gateway, ({ url }) =>
    Effect.promise(async (signal) => {
      const form = new FormData()
      for (const [name, value] of parts) form.append(name, value)
      const answer = await fetch(`${url}/v1/files`, {
        method: "POST",
        headers: { authorization: `Bearer ${who.key}` },
        body: form,
        signal
      })
      const text = await answer.text()
      const body = Schema.decodeUnknownSync(Schema.fromJsonString(Body))(text)
      return { status: answer.status, headers: answer.headers, text, body }
    })
  )

/** Uploads a file that must be taken; answers its id. */
export const uploaded = Effect.fnUntraced(function* (who: Customer, bytes: Uint8Array) {
  const { body, status, text } = yield* sendForm(who, formOf(bytes))
  if (status !== 200) return yield* Effect.die(new Error(text))
  return Schema.decodeUnknownSync(Schema.Struct({ id: Schema.String }))(body).id
})
