/**
 * A vendor with minimal cost: image, chat and video APIs whose responses are built once. It
 * validates no order and has no ledger; of a video task it stores only the time of completion.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"

/** The size of the base64 text in the large image response. */
const LARGE_BYTES = 4 * 2 ** 20
/**
 * The pause between the chunks of a stream: much longer than the time that a gateway adds to the
 * first byte.
 */
const STREAM_PAUSE_MILLIS = 5
const WORDS = 20

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

const smallImage = json({
  created: 1_780_000_000,
  data: [{ url: "http://127.0.0.1:9/images/lighthouse-at-dusk.png" }],
  usage: { generated_images: 1, output_tokens: 4096, total_tokens: 4096 }
})
const largeImage = json({
  created: 1_780_000_000,
  data: [{ b64_json: Buffer.alloc((LARGE_BYTES * 3) / 4, "lighthouse").toString("base64") }]
})

const usage = { prompt_tokens: 24, completion_tokens: WORDS, total_tokens: 24 + WORDS }
const answer = { id: "chatcmpl-bench", created: 1_780_000_000, model: "vendor-talk-1" }
const said = Array.from({ length: WORDS }, (_, index) => (index === 0 ? "The" : " lamp turns"))
const plainChat = json({
  ...answer,
  object: "chat.completion",
  choices: [
    { index: 0, message: { role: "assistant", content: said.join("") }, finish_reason: "stop" }
  ],
  usage
})

const event = (value: object): string =>
  `data: ${JSON.stringify({ ...answer, object: "chat.completion.chunk", ...value })}\n\n`
const word = (content: string): string =>
  event({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })
const [firstWord = "", ...words] = said.map(word)
const half = words.length / 2
const streamParts = [
  firstWord,
  words.slice(0, half).join(""),
  words.slice(half).join("") + event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })
].map((text) => Buffer.from(text))
const streamUsage = Buffer.from(event({ choices: [], usage }))
const streamDone = Buffer.from("data: [DONE]\n\n")

/** The completion time of each task, in milliseconds since 1970. */
const doneAt = new Map<string, number>()
let takesMillis = 0
let created = 0

const TASKS = "/api/v3/contents/generations/tasks"

const send = (response: ServerResponse, body: Buffer, status = 200): void => {
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": body.length
  })
  response.end(body)
}

const stream = (response: ServerResponse, withUsage: boolean): void => {
  const parts = [...streamParts, ...(withUsage ? [streamUsage] : [])]
  response.writeHead(200, { "content-type": "text/event-stream" })
  const next = (index: number): void => {
    const part = parts[index]
    if (part === undefined) {
      response.end(streamDone)
    } else {
      response.write(part)
      setTimeout(next, STREAM_PAUSE_MILLIS, index + 1)
    }
  }
  next(0)
}

const createTask = (response: ServerResponse): void => {
  const id = `cgt-bench-${(created++).toString().padStart(9, "0")}`
  doneAt.set(id, Date.now() + takesMillis)
  send(response, json({ id }))
}

const readTask = (id: string): { readonly status: number; readonly body: Buffer } => {
  const done = doneAt.get(id)
  if (done === undefined)
    return { status: 404, body: json({ error: { code: "ResourceNotFound" } }) }
  const times = { id, model: "vendor-film-1", created_at: 1_780_000_000, updated_at: 1_780_000_000 }
  if (done > Date.now()) return { status: 200, body: json({ ...times, status: "running" }) }
  const body = json({
    ...times,
    status: "succeeded",
    content: { video_url: `http://127.0.0.1:9/videos/${id}.mp4` },
    usage: { completion_tokens: 108_900, total_tokens: 108_900 },
    resolution: "720p",
    ratio: "16:9",
    duration: 5,
    framespersecond: 24
  })
  return { status: 200, body }
}

/** The API by which the benchmark controls the vendor. */
const control = (response: ServerResponse, url: URL): void => {
  const number = (name: string): number => Number(url.searchParams.get(name))
  switch (url.pathname) {
    case "/_bench/takes":
      takesMillis = number("millis")
      break
    case "/_bench/finish": {
      const now = Date.now()
      const open = [...doneAt].filter(([, at]) => at > now)
      for (const [index, [id]] of open.entries()) {
        doneAt.set(id, now + (number("over") * index) / open.length)
      }
      break
    }
    case "/_bench/forget":
      doneAt.clear()
      break
  }
  send(response, json(url.pathname === "/_bench/done" ? [...doneAt] : {}))
}

const serve = (request: IncomingMessage, response: ServerResponse, body: Buffer): void => {
  const path = request.url ?? "/"
  if (path === "/v1/images/generations") {
    send(response, body.includes("vendor-paint-large") ? largeImage : smallImage)
  } else if (path === "/v1/chat/completions") {
    if (body.includes('"stream":true')) stream(response, body.includes('"include_usage":true'))
    else send(response, plainChat)
  } else if (path === TASKS) {
    createTask(response)
  } else if (path.startsWith(TASKS)) {
    const { status, body: task } = readTask(path.slice(TASKS.length + 1))
    send(response, task, status)
  } else if (path.startsWith("/_bench/")) {
    control(response, new URL(path, "http://vendor"))
  } else {
    send(response, json({ error: { code: "NotFound" } }), 404)
  }
}

const server = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const [only] = chunks
    serve(
      request,
      response,
      chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)
    )
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  if (address !== null && typeof address === "object") {
    console.log(`listens on http://127.0.0.1:${address.port}`)
  }
})
