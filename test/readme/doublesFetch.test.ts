import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeClient } from "media-gateway/client/promise"
import { layerGatewayTesting, TestingGateway } from "media-gateway/testing"
import OpenAI from "openai"

it.effect("clients order by the gateway's fetch", () =>
  Effect.gen(function* () {
    const { url, fetch, customer } = yield* TestingGateway
    const { key } = yield* customer({ deposit: 10 })

    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, fetch })
    const images = yield* Effect.promise(() =>
      openai.images.generate({ model: "paint-1", prompt: "a storm" })
    )
    assert.lengthOf(images.data ?? [], 1)

    const gateway = makeClient({ baseUrl: url, apiKey: key, fetch })
    const { available } = yield* Effect.promise(() => gateway.account.balance())
    assert.strictEqual(available, "9.8")
  }).pipe(Effect.provide(layerGatewayTesting()))
)
