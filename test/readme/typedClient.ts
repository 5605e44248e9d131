import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Config, Console, Effect, Layer } from "effect"
import { layer, MediaGateway, waitForVideo } from "media-gateway/client"

const layerClient = Layer.unwrap(
  Effect.map(Config.Redacted("GATEWAY_KEY"), (apiKey) =>
    layer({ baseUrl: "http://127.0.0.1:8080", apiKey })
  )
).pipe(Layer.provide(NodeHttpClient.layerUndici))

const program = Effect.gen(function* () {
  const gateway = yield* MediaGateway
  const { id } = yield* gateway.videos
    .create({
      payload: { model: "film-1", prompt: "a lighthouse at dusk", duration: 20 },
      headers: {}
    })
    .pipe(
      // the refusal says what would be taken: 15 seconds are this model's most
      Effect.catchTag("video_sku_invalid", ({ nearest }) =>
        gateway.videos.create({
          payload: { model: "film-1", prompt: "a lighthouse at dusk", duration: Number(nearest) },
          headers: {}
        })
      )
    )
  const video = yield* waitForVideo(id)
  yield* Console.log(video.task_status)
})

NodeRuntime.runMain(program.pipe(Effect.provide(layerClient)))
