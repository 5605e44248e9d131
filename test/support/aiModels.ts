/** What the AI SDK does with a model of text, whichever API it is called by. */
import { assert } from "@effect/vitest"
import { generateText, type LanguageModel, Output, stepCountIs, streamText, tool } from "ai"
import { Effect } from "effect"
import { z } from "zod"
import { done } from "./officialClients.ts"

export const Weather = z.strictObject({ city: z.string(), days: z.int().min(1).max(7) })

/** The model calls a tool and goes on, streams a text, and makes an object. */
export const usesAiModel = (model: LanguageModel) =>
  Effect.gen(function* () {
    const weather = tool({
      inputSchema: Weather,
      execute: async ({ city, days }) => `rain in ${city} for ${days} days`
    })
    const { steps, text } = yield* done(() =>
      generateText({
        model,
        prompt: "the weather?",
        tools: { weather },
        stopWhen: stepCountIs(3)
      })
    )
    assert.deepStrictEqual(
      steps.map(({ finishReason }) => finishReason),
      ["tool-calls", "stop"]
    )
    assert.isNotEmpty(text)
    const streamed = yield* done(async () => {
      const stream = streamText({ model, prompt: "a lighthouse" })
      let text = ""
      for await (const piece of stream.textStream) text += piece
      return { text, usage: await stream.usage, reason: await stream.finishReason }
    })
    assert.isNotEmpty(streamed.text)
    assert.strictEqual(streamed.reason, "stop")
    assert.isAbove(streamed.usage.outputTokens ?? 0, 0)
    const { output } = yield* done(() =>
      generateText({
        model,
        prompt: "the weather?",
        output: Output.object({ schema: Weather })
      })
    )
    assert.isTrue(Weather.safeParse(output).success)
  })
