import { Errors, makeClient } from "media-gateway/client/promise"

const gateway = makeClient({
  baseUrl: "http://127.0.0.1:8080",
  apiKey: process.env.GATEWAY_KEY ?? ""
})

const order = { model: "film-1", prompt: "a lighthouse at dusk", duration: 20 }
const task = await gateway.videos.create(order).catch((error: unknown) => {
  if (!(error instanceof Errors.VideoSkuInvalid)) throw error
  // the refusal says what would be taken: 15 seconds are this model's most
  return gateway.videos.create({ ...order, duration: Number(error.nearest) })
})
const video = await gateway.videos.wait(task.id)
console.log(video.task_status)

const chat = { model: "talk-1", messages: [{ role: "user", content: "Describe it" }] } as const
for await (const { data } of await gateway.chat.stream(chat)) console.log(data)

const sound = await gateway.speech.create({ model: "voice-1", input: "The lamp begins to turn" })
console.log(sound.headers.get("content-type"), (await sound.arrayBuffer()).byteLength)
