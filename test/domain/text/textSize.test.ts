/** The estimate of random requests, against the text that was put into them. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { ChatBody, EmbeddingBody } from "../../../src/domain/text/TextRequest.ts"
import { estimateChat, estimateEmbedding } from "../../../src/domain/text/textEstimate.ts"
import { seedOfDay } from "../../support/day.ts"
import { type Dice, diceOf } from "../../support/randomOrders.ts"

const BODIES = Number(process.env.ESTIMATE_BODIES ?? 2000)
const SEED = Number(process.env.ESTIMATE_SEED ?? seedOfDay)

const decodeChat = Schema.decodeUnknownSync(ChatBody)
const decodeEmbedding = Schema.decodeUnknownSync(EmbeddingBody)

type Fields = Record<string, unknown>

/** Makes texts, and tells how many bytes of them a value has, by name or value. */
const textsOf = (dice: Dice) => {
  const made = new Set<string>()
  const text = (): string => {
    const unit = dice.pick(["a lighthouse ", "灯塔 ", "data:text/plain, ", "https://a b ", "ü \n"])
    const text = unit.repeat(1 + dice.roll(dice.chance(20) ? 2000 : 5))
    made.add(text)
    return text
  }
  const bytesIn = (value: unknown): number => {
    if (typeof value === "string") return made.has(value) ? Buffer.byteLength(value) : 0
    if (typeof value !== "object" || value === null) return 0
    return Object.entries(value).reduce(
      (sum, [name, inner]) => sum + bytesIn(name) + bytesIn(inner),
      0
    )
  }
  return { text, bytesIn }
}
type Texts = ReturnType<typeof textsOf>

const payloads = [
  "https://files.test/1.png",
  `data:image/png;base64,${"A".repeat(600)}`,
  `data:audio/wav;base64,${"A".repeat(600)}`,
  `JVBERi0${"A".repeat(600)}`
] as const

const valueFor = (dice: Dice, texts: Texts, levels = 3): unknown => {
  switch (dice.roll(levels > 0 ? 7 : 4)) {
    case 0:
      return texts.text()
    case 1:
      return dice.roll(1000)
    case 2:
      return dice.pick([true, false, null])
    case 3:
      return dice.pick(payloads)
    case 4:
      return Array.from({ length: dice.roll(4) }, () => valueFor(dice, texts, levels - 1))
    default:
      return Object.fromEntries(
        Array.from({ length: dice.roll(4) }, () => [
          dice.pick(["url", "data", "file_data", "detail", "text", texts.text()]),
          valueFor(dice, texts, levels - 1)
        ])
      )
  }
}

const mediaNames = ["image", "video", "audio", "file", "input_audio", "input_image"] as const
const otherNames = ["caption", "name", "tool_calls", "refusal", "reasoning_content"] as const
const topNames = [
  "tool_choice",
  "functions",
  "prediction",
  "user",
  "stop",
  "response_format",
  "logit_bias",
  "seed",
  "temperature",
  "reasoning_effort",
  "images",
  "file",
  "instructions"
] as const

const pickOf = (dice: Dice, names: ReadonlyArray<string>) =>
  names[dice.roll(names.length)] ?? "other"

const addToPart = (dice: Dice, texts: Texts, part: Fields): void => {
  const name = pickOf(dice, [...mediaNames, ...otherNames, "text", texts.text()])
  if (!Object.hasOwn(part, name)) part[name] = valueFor(dice, texts)
}

const addToMessage = (dice: Dice, texts: Texts, message: Fields): void => {
  const name = pickOf(dice, [...mediaNames, ...otherNames])
  if (!Object.hasOwn(message, name)) message[name] = valueFor(dice, texts)
}

const addToBody = (dice: Dice, texts: Texts, body: Fields): void => {
  const name = pickOf(dice, [...topNames, "max_output_tokens", "thinking_budget", "min_tokens"])
  if (!Object.hasOwn(body, name)) body[name] = valueFor(dice, texts)
}

const partOf = (dice: Dice, texts: Texts): Fields => {
  const part: Fields = { type: dice.pick(["text", "image", texts.text()]) }
  for (let field = dice.roll(4); field > 0; field--) addToPart(dice, texts, part)
  return part
}

const randomChat = (dice: Dice, texts: Texts) => {
  const parts = Array.from({ length: dice.roll(4) }, () => partOf(dice, texts))
  const message: Fields = {
    role: dice.pick(["user", "assistant", texts.text()]),
    content: dice.chance(70) ? parts : texts.text()
  }
  const body: Fields = {
    model: "m",
    messages: [message],
    ...(dice.chance(50) ? { max_tokens: 10 } : {})
  }
  for (let field = dice.roll(3); field > 0; field--) addToMessage(dice, texts, message)
  for (let field = dice.roll(4); field > 0; field--) addToBody(dice, texts, body)
  return { body, message, parts }
}

const each = (what: (dice: Dice, texts: Texts, label: string) => void): void => {
  for (let index = 0; index < BODIES; index++) {
    const dice = diceOf(SEED + index)
    what(dice, textsOf(dice), `ESTIMATE_SEED=${SEED + index} ESTIMATE_BODIES=1`)
  }
}

describe("the estimate of a request", () => {
  it("is never below its text", () =>
    each((dice, texts, label) => {
      const { body } = randomChat(dice, texts)
      const { inputTokens } = estimateChat(decodeChat(body))
      assert.isTrue(inputTokens * 3n >= BigInt(texts.bytesIn(body)), label)
    }))

  it("is never lowered by what is added", () =>
    each((dice, texts, label) => {
      const { body, message, parts } = randomChat(dice, texts)
      const before = estimateChat(decodeChat(body))
      const [part] = parts
      const where = dice.roll(4)
      if (where === 0 && part !== undefined) addToPart(dice, texts, part)
      else if (where === 1 && part !== undefined) parts.push(partOf(dice, texts))
      else if (where === 2) addToMessage(dice, texts, message)
      else addToBody(dice, texts, body)
      const after = estimateChat(decodeChat(body))
      assert.isTrue(after.inputTokens >= before.inputTokens, label)
      assert.isTrue(after.outputTokens >= before.outputTokens, label)
    }))

  it("of embeddings is neither below the text nor lowered by what is added", () =>
    each((dice, texts, label) => {
      const body: Fields = {
        model: "m",
        input: dice.pick<unknown>([texts.text(), [texts.text(), "x"], [1, 2, 3], [[1], [2]]])
      }
      for (let field = dice.roll(4); field > 0; field--) {
        const before = estimateEmbedding(decodeEmbedding(body)).inputTokens
        addToBody(dice, texts, body)
        const after = estimateEmbedding(decodeEmbedding(body)).inputTokens
        assert.isTrue(after >= before, label)
      }
      const { inputTokens } = estimateEmbedding(decodeEmbedding(body))
      assert.isTrue(inputTokens * 3n >= BigInt(texts.bytesIn(body)), label)
    }))
})
