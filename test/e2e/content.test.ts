/** The files of tasks, passed on from where their vendor keeps them. */
import { createHash } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Schema } from "effect"
import OpenAI from "openai"
import { type BrokenVendor, brokenVendor, type WrittenReply } from "../support/brokenVendor.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { createVideo, errorOf, finishVideo, moveTo } from "../support/orders.ts"

const settings = { ...quickSettings, webhookAllowPrivate: true }

const Succeeded = Schema.Struct({
  content: Schema.Struct({ video_url: Schema.String }),
  expires_at: Schema.String
})

const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

/** A file as a client without any library of ours would load it. */
const load = (
  who: Customer,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  method = "GET"
) =>
  Effect.flatMap(Gateway, ({ url }) =>
    Effect.promise(async (signal) => {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${who.key}`, ...headers },
        signal
      })
      const bytes = new Uint8Array(await response.arrayBuffer())
      return { status: response.status, headers: response.headers, bytes }
    })
  )

const images = Effect.fnUntraced(function* (who: Customer) {
  const gateway = yield* Gateway
  const answer = yield* gateway.call("/v1/images/generations", {
    key: who.key,
    headers: { prefer: "respond-async" },
    json: { model: "paint-1", prompt: "a lighthouse", n: 2 }
  })
  const { id } = yield* bodyAs(Schema.Struct({ id: Schema.String }), answer)
  yield* gateway.call(`/v1/images/${id}?wait=30`, { key: who.key })
  return id
})

layer(layerTestGateway("postgres", settings), { excludeTestServices: true, timeout: "60 seconds" })(
  "files",
  (it) => {
    it.effect("a video is loaded as its vendor has it, whole and in parts", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const id = yield* createVideo(who, { model: "film-1", prompt: "x" })
        yield* finishVideo(who, id)
        const read = yield* gateway.call(`/v1/videos/${id}`, { key: who.key })
        const { content, expires_at } = yield* bodyAs(Succeeded, read)
        assert.closeTo(Date.parse(expires_at), Date.now() + 24 * 3600 * 1000, 60_000)
        const original = yield* Effect.promise(
          async () => new Uint8Array(await (await fetch(content.video_url)).arrayBuffer())
        )
        const path = `/v1/videos/${id}/content`
        const whole = yield* load(who, path)
        assert.strictEqual(whole.status, 200)
        assert.strictEqual(digest(whole.bytes), digest(original))
        assert.strictEqual(whole.headers.get("content-type"), "video/mp4")
        assert.strictEqual(whole.headers.get("x-content-type-options"), "nosniff")
        assert.strictEqual(whole.headers.get("content-length"), String(original.length))

        const head = yield* load(who, path, {}, "HEAD")
        assert.strictEqual(head.status, 200)
        assert.strictEqual(head.headers.get("content-length"), String(original.length))
        assert.lengthOf(head.bytes, 0)

        const client = new OpenAI({ apiKey: who.key, baseURL: `${gateway.url}/v1` })
        const downloaded = yield* Effect.promise(
          async () => new Uint8Array(await (await client.videos.downloadContent(id)).arrayBuffer())
        )
        assert.strictEqual(digest(downloaded), digest(original))
      })
    )

    it.effect("images are loaded by their place", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const id = yield* images(who)
        const pictures = yield* Effect.forEach([0, 1], (n) =>
          load(who, `/v1/images/${id}/content/${n}`)
        )
        for (const { status, headers } of pictures) {
          assert.strictEqual(status, 200)
          assert.strictEqual(headers.get("content-type"), "image/png")
        }
        assert.lengthOf(new Set(pictures.map(({ bytes }) => digest(bytes))), 2)
        for (const [n, status] of [
          ["2", 404],
          ["x", 400],
          ["99", 400]
        ] as const) {
          const answer = yield* gateway.call(`/v1/images/${id}/content/${n}`, { key: who.key })
          assert.strictEqual(answer.status, status, answer.text)
        }
      })
    )

    it.effect("what is not there is said in words", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const stranger = yield* gateway.customer("100")
        const running = yield* createVideo(who, { model: "film-1", prompt: "x sim:slow" })
        const at = (id: string) => `/v1/videos/${id}/content`
        const early = yield* gateway.call(at(running), { key: who.key })
        assert.strictEqual(early.status, 404)
        assert.deepInclude(yield* errorOf(early), {
          code: "not_found",
          message: "It is not made yet: the task is processing"
        })
        const failing = yield* createVideo(who, { model: "film-1", prompt: "x sim:fail" })
        yield* gateway.call(`/v1/videos/${failing}?wait=30`, { key: who.key })
        const failed = yield* gateway.call(at(failing), { key: who.key })
        assert.strictEqual(failed.status, 404)
        assert.include((yield* errorOf(failed)).message, "has failed")
        const foreign = yield* gateway.call(at(running), { key: stranger.key })
        assert.strictEqual((yield* errorOf(foreign)).code, "task_not_found")
      })
    )
  }
)

/** A vendor of images whose file is answered as a test says. */
const imageAt = Effect.fnUntraced(function* (
  file: WrittenReply | "cut",
  asking: { readonly headers?: Readonly<Record<string, string>>; readonly query?: string } = {}
) {
  const gateway = yield* Gateway
  const who = yield* gateway.customer("10")
  const vendor: BrokenVendor = yield* brokenVendor(({ method, headers }) =>
    method === "GET"
      ? file
      : {
          body: {
            created: 1,
            data: [{ url: `http://${headers.host}/one.png${asking.query ?? ""}` }]
          }
        }
  )
  yield* moveTo(vendor.url)
  const id = yield* images(who)
  const path = `/v1/images/${id}/content/0`
  const answer = yield* Effect.exit(
    Effect.tryPromise(async () => {
      const response = await fetch(`${gateway.url}${path}`, {
        headers: { authorization: `Bearer ${who.key}`, ...asking.headers }
      })
      return { status: response.status, headers: response.headers, text: await response.text() }
    })
  )
  const requests = yield* vendor.requests
  yield* moveTo(null)
  const read = yield* gateway.call(`/v1/images/${id}`, { key: who.key })
  return { answer, asked: requests.filter(({ method }) => method === "GET"), task: read.body }
})

const answered = <E>(
  exit: Exit.Exit<{ readonly status: number; readonly text: string; readonly headers: Headers }, E>
) => (Exit.isSuccess(exit) ? Effect.succeed(exit.value) : Effect.die(exit.cause))

layer(layerTestGateway("embedded", { ...settings, maxContentBytes: 20 }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("a vendor of files", (it) => {
  it.effect("is asked for the part a client wants, and for nothing of the client's", () =>
    Effect.gen(function* () {
      const { answer, asked } = yield* imageAt(
        {
          status: 206,
          headers: {
            "content-type": "image/png",
            "content-range": "bytes 2-4/9",
            "accept-ranges": "bytes",
            etag: '"one"',
            "set-cookie": "a=b",
            "x-vendor": "theirs"
          },
          body: "cde"
        },
        { headers: { range: "bytes=2-4", "if-range": '"one"', cookie: "mine" } }
      )
      const { status, headers, text } = yield* answered(answer)
      assert.deepStrictEqual([status, text], [206, "cde"])
      assert.strictEqual(headers.get("content-range"), "bytes 2-4/9")
      assert.strictEqual(headers.get("etag"), '"one"')
      assert.isNull(headers.get("set-cookie"))
      assert.isNull(headers.get("x-vendor"))
      assert.lengthOf(asked, 1)
      assert.deepInclude(asked[0]?.headers, { range: "bytes=2-4", "if-range": '"one"' })
      assert.notProperty(asked[0]?.headers, "authorization")
      assert.notProperty(asked[0]?.headers, "cookie")
    })
  )

  it.effect.each([
    [304, 304],
    [416, 416],
    [403, 404],
    [404, 404],
    [410, 404],
    [302, 502],
    [500, 502]
  ] as const)("that answers %j", ([said, status]) =>
    Effect.gen(function* () {
      const { answer } = yield* imageAt({
        status: said,
        headers: { location: "/elsewhere" },
        body: said === 304 ? undefined : "a secret of the vendor's"
      })
      const given = yield* answered(answer)
      assert.strictEqual(given.status, status, given.text)
      assert.notInclude(given.text, "a secret")
    })
  )

  it.effect.each([
    ["image/SVG+xml", null],
    ["image/svg+xml", null],
    ["text/html", null],
    ["application/javascript", null],
    ["image/png, text/html", null],
    ["IMAGE/PNG; x=y", "image/png"]
  ] as const)("sends no page that a browser would run: %s", ([type, shown]) =>
    Effect.gen(function* () {
      const { answer } = yield* imageAt({ headers: { "content-type": type }, body: "<a>" })
      const { headers } = yield* answered(answer)
      assert.strictEqual(headers.get("content-type"), shown ?? "application/octet-stream")
      assert.strictEqual(headers.get("content-disposition"), shown === null ? "attachment" : null)
      assert.match(headers.get("content-security-policy") ?? "", /(?:^|; )sandbox$/)
      assert.strictEqual(headers.get("x-content-type-options"), "nosniff")
    })
  )

  it.effect("sends no more than there may be", () =>
    Effect.gen(function* () {
      const large = yield* imageAt({ headers: { "content-length": "21" }, body: "x".repeat(21) })
      const refused = yield* answered(large.answer)
      assert.strictEqual(refused.status, 502)
      assert.include(refused.text, "more than 20 bytes")
      const unknown = yield* imageAt({
        headers: { "transfer-encoding": "chunked" },
        body: "x".repeat(21)
      })
      assert.isTrue(Exit.isFailure(unknown.answer), "the client's connection is cut")
    })
  )

  it.effect("that breaks off breaks off its client, and serves the next one", () =>
    Effect.gen(function* () {
      const cut = yield* imageAt("cut")
      assert.isTrue(Exit.isFailure(cut.answer) || (yield* answered(cut.answer)).status === 502)
      const next = yield* imageAt({ headers: { "content-type": "image/png" }, body: "abc" })
      assert.strictEqual((yield* answered(next.answer)).text, "abc")
    })
  )

  it.effect("tells until when by the signature of its address", () =>
    Effect.gen(function* () {
      const file = { body: "abc" }
      for (const [query, end] of [
        ["?Expires=1900000000&Signature=x", "2030-03-17T17:46:40.000Z"],
        ["?X-Tos-Date=20300317T174640Z&X-Tos-Expires=3600", "2030-03-17T18:46:40.000Z"],
        ["?X-Amz-Date=20300317T174640Z&X-Amz-Expires=60", "2030-03-17T17:47:40.000Z"]
      ] as const) {
        const { task } = yield* imageAt(file, { query })
        assert.deepInclude(task, { expires_at: end })
      }
      for (const query of ["", "?Expires=never", "?Expires=1", "?X-Amz-Date=x&X-Amz-Expires=60"]) {
        const { task } = yield* imageAt(file, { query })
        assert.notProperty(task, "expires_at")
      }
    })
  )
})

layer(layerTestGateway("embedded", { ...settings, webhookAllowPrivate: false }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("a file at a private address", (it) => {
  it.effect("is not loaded", () =>
    Effect.gen(function* () {
      const { answer, asked } = yield* imageAt({ body: "abc" })
      const { status, text } = yield* answered(answer)
      assert.strictEqual(status, 502, text)
      assert.lengthOf(asked, 0)
    })
  )
})
