/** Addresses of clients and vendors are text: the gateway itself connects to none of them. */
import { once } from "node:events"
import { createServer } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { brokenVendor } from "../support/brokenVendor.ts"
import { type Customer, Gateway, layerTestGateway, testCatalog } from "../support/gateway.ts"

/** Something inside the network that must never hear of it. */
const innerService = Effect.map(
  Effect.acquireRelease(
    Effect.promise(async () => {
      const seen = { connections: 0 }
      const server = createServer((socket) => {
        seen.connections++
        socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
      })
      await once(server.listen(0, "127.0.0.1"), "listening")
      return { server, seen }
    }),
    ({ server }) => Effect.sync(() => server.close())
  ),
  ({ server, seen }) => {
    const address = server.address()
    if (address === null || typeof address === "string") throw new Error("no port")
    return { port: address.port, seen }
  }
)

/** Forms that are handed on as text, and forms that are no http, https or data address. */
const formsFor = (port: number) => ({
  passed: [
    `http://127.0.0.1:${port}/`,
    `http://127.0.0.1:${port}/a.png?x=1#y`,
    `HTTP://127.0.0.1:${port}/`,
    `hTTpS://127.0.0.1:${port}/`,
    `https://127.0.0.1:${port}/`,
    `http://localhost:${port}/`,
    `http://LOCALHOST.:${port}/`,
    `http://localhost.localdomain:${port}/`,
    `http://127.1:${port}/`,
    `http://127.0.1:${port}/`,
    `http://0:${port}/`,
    `http://0.0.0.0:${port}/`,
    `http://2130706433:${port}/`,
    `http://0x7f000001:${port}/`,
    `http://0x7f.0.0.1:${port}/`,
    `http://0177.0.0.1:${port}/`,
    `http://127.0.0.1.:${port}/`,
    `http://127.127.127.127:${port}/`,
    `http://[::1]:${port}/`,
    `http://[::]:${port}/`,
    `http://[::ffff:127.0.0.1]:${port}/`,
    `http://[0:0:0:0:0:ffff:7f00:1]:${port}/`,
    `http://user:password@127.0.0.1:${port}/`,
    `http://files.test@127.0.0.1:${port}/`,
    `http://127.0.0.1:${port}#@files.test/`,
    `http://127.0.0.1:${port}\\@files.test/`,
    `http://files.test#@127.0.0.1:${port}/`,
    `http://files.test%2f@127.0.0.1:${port}/`,
    `http://127.0.0.1%00.files.test:${port}/`,
    `http://①②⑦.⓪.⓪.①:${port}/`,
    `http://127。0。0。1:${port}/`,
    `http://127.0.0.1:${port}/%0d%0aHost:%20inner`,
    `http:///127.0.0.1:${port}/`,
    `http://127.0.0.1:${port}/..%2f..%2fadmin`,
    `http://169.254.169.254/latest/meta-data/`,
    `http://[fd00:ec2::254]/latest/`,
    `http://metadata.google.internal/`,
    "data:text/html,<script>fetch('/')</script>",
    "data:image/svg+xml;base64,PHN2Zz4=",
    `data:text/plain,http://127.0.0.1:${port}/`,
    "data:,"
  ],
  refused: [
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    "file://127.0.0.1/etc/passwd",
    `ftp://127.0.0.1:${port}/`,
    `gopher://127.0.0.1:${port}/_GET`,
    `dict://127.0.0.1:${port}/`,
    `ldap://127.0.0.1:${port}/`,
    `ws://127.0.0.1:${port}/`,
    `tcp://127.0.0.1:${port}/`,
    `jar:http://127.0.0.1:${port}/!/`,
    `view-source:http://127.0.0.1:${port}/`,
    `blob:http://127.0.0.1:${port}/1`,
    "javascript:fetch('/')",
    "about:blank",
    "unix:/var/run/docker.sock",
    `//127.0.0.1:${port}/`,
    `\\\\127.0.0.1\\share`,
    `127.0.0.1:${port}`,
    "/etc/passwd",
    `http:/127.0.0.1:${port}/`,
    `http:127.0.0.1:${port}`,
    ` http://127.0.0.1:${port}/`,
    `http://127.0.0.1:${port}/ x`,
    `http://127.0.0.1:${port}/\r\nX: y`,
    `ht\ttp://127.0.0.1:${port}/`,
    `\u0000http://127.0.0.1:${port}/`,
    "http://",
    "https:",
    "data:",
    ""
  ]
})

const kinds = ["image", "audio", "video"] as const

/** Orders with the address in one place each. */
const places = (url: string): ReadonlyArray<readonly [path: string, body: object]> => [
  ...kinds.flatMap((kind) =>
    Object.entries({ [kind]: url, [`${kind}s`]: [url], [`${kind}_url`]: { url } }).map(
      ([field, value]) =>
        ["/v1/videos/generations", { model: "film-1", prompt: "x", [field]: value }] as const
    )
  ),
  ...kinds.map(
    (kind) =>
      [
        "/v1/videos/generations",
        { model: "film-1", content: [{ type: `${kind}_url`, [`${kind}_url`]: { url } }] }
      ] as const
  ),
  ...["image", "images", "image_url"].map(
    (field) => ["/v1/images/generations", { model: "paint-1", prompt: "x", [field]: url }] as const
  )
]

/** Orders with the address in every place at once. */
const everywhere = (url: string): ReadonlyArray<readonly [path: string, body: object]> => [
  [
    "/v1/videos/generations",
    {
      model: "film-1",
      prompt: "x",
      ...Object.fromEntries(
        kinds.flatMap((kind) => [
          [kind, url],
          [`${kind}s`, [{ url }]]
        ])
      )
    }
  ],
  [
    "/v1/videos/generations",
    {
      model: "film-1",
      content: kinds.map((kind) => ({ type: `${kind}_url`, [`${kind}_url`]: url }))
    }
  ],
  ["/v1/images/generations", { model: "paint-1", prompt: "x", image: url, images: [url] }]
]

const order = Effect.fnUntraced(function* (
  { key }: Customer,
  [path, json]: readonly [string, object]
) {
  const gateway = yield* Gateway
  return yield* gateway.call(path, { key, json })
})

const vendorAt = Effect.fnUntraced(function* (url: string) {
  const gateway = yield* Gateway
  const catalog = testCatalog(gateway.simulator.url)
  const channels = catalog.channels.map((channel) => ({ ...channel, base_url: url }))
  yield* gateway.admin("/catalog", { method: "PUT", json: { ...catalog, channels } })
})

layer(layerTestGateway("postgres"), { excludeTestServices: true, timeout: "60 seconds" })(
  "addresses in requests and answers",
  (it) => {
    it.effect("are never connected to, in whatever form and field they come", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { port, seen } = yield* innerService
        const { passed, refused } = formsFor(port)
        assert.isAtLeast(passed.length + refused.length, 60)
        const who = yield* gateway.customer("1000000")
        const before = (yield* gateway.simulator.book).length
        yield* Effect.forEach(
          refused.flatMap((url) => places(url).map((place) => ({ url, place }))),
          ({ url, place }) =>
            Effect.map(order(who, place), (answer) => {
              const label = `${JSON.stringify(url)} in ${JSON.stringify(place)}`
              assert.strictEqual(answer.status, 400, label)
              assert.deepNestedInclude(answer.body, { "error.code": "invalid_request" }, label)
            }),
          { concurrency: 16, discard: true }
        )
        assert.strictEqual((yield* gateway.simulator.book).length, before)
        const statuses = yield* Effect.forEach(
          passed.flatMap((url) => everywhere(url).map((place) => ({ url, place }))),
          ({ url, place }) =>
            Effect.map(order(who, place), (answer) => {
              // The vendor may find fault with an address; nobody else looks at it.
              assert.include([200, 400], answer.status, `${url}: ${answer.text}`)
              return answer.status
            }),
          { concurrency: 16 }
        )
        assert.isAtLeast(statuses.filter((status) => status === 200).length, passed.length)
        assert.strictEqual(seen.connections, 0)
        yield* gateway.verify
      }).pipe(Effect.scoped)
    )

    it.effect("are not followed when a vendor answers with them", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { port, seen } = yield* innerService
        const inner = `http://127.0.0.1:${port}/`
        const who = yield* gateway.customer("1000")
        const film = ["/v1/videos/generations", { model: "film-1", prompt: "x" }] as const
        for (const status of [301, 302, 303, 307, 308]) {
          const vendor = yield* brokenVendor({ status, headers: { location: inner } })
          yield* vendorAt(vendor.url)
          for (const place of [
            film,
            ["/v1/videos/generations", { model: "clip-1", prompt: "x" }],
            ["/v1/images/generations", { model: "paint-1", prompt: "x" }]
          ] as const) {
            const answer = yield* order(who, place)
            assert.strictEqual(answer.status, 502, answer.text)
          }
          const orders = (yield* vendor.requests).filter(({ method }) => method === "POST")
          assert.strictEqual(orders.length, 3)
        }
        const lying = yield* brokenVendor(({ method }) =>
          method === "POST"
            ? { headers: { location: inner, refresh: `0; url=${inner}` }, body: { id: "job" } }
            : { body: { id: "job", status: "succeeded", content: { video_url: inner } } }
        )
        yield* vendorAt(lying.url)
        const made = yield* order(who, film)
        const [, id = ""] = /"id":"([^"]+)"/.exec(made.text) ?? []
        const done = yield* gateway.call(`/v1/videos/${id}?wait=20`, { key: who.key })
        assert.include(done.text, inner)
        assert.strictEqual(seen.connections, 0)
      }).pipe(Effect.scoped)
    )
  }
)
