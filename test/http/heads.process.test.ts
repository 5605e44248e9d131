/** Requests that Node would answer itself: every answer is in our form. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Gateway, layerTestGateway } from "../support/gateway.ts"
import { rawRequest } from "../support/rawSocket.ts"

const order = '{"model":"paint-1","prompt":"x"}'
const post = "POST /v1/images/generations HTTP/1.1\r\n"
const json = `content-type: application/json\r\ncontent-length: ${order.length}\r\n`

const rows: ReadonlyArray<readonly [what: string, text: string, status: number, says: string]> = [
  ["no host", `GET /v1/models HTTP/1.1\r\n\r\n`, 400, "host"],
  ["no host, with a body", `${post}${json}\r\n${order}`, 400, "host"],
  ["no host, and waiting", `${post}${json}expect: 100-continue\r\n\r\n`, 400, "host"],
  ["an expectation", `${post}host: x\r\n${json}expect: gold\r\n\r\n${order}`, 417, "100-continue"],
  ["an expectation of nothing", `${post}host: x\r\n${json}expect: \r\n\r\n${order}`, 417, "100-"],
  [
    "a tunnel",
    "CONNECT example.test:443 HTTP/1.1\r\nhost: example.test:443\r\n\r\n",
    405,
    "CONNECT"
  ],
  ["another language", "HELO gateway\r\n\r\n", 400, "not a request in HTTP"],
  ["two lengths", `${post}host: x\r\n${json}transfer-encoding: chunked\r\n\r\n`, 400, "HTTP"],
  ["another version", "GET /v1/models HTTP/3.7\r\nhost: x\r\n\r\n", 400, "HTTP"],
  [
    "a head of 100 KB",
    `GET / HTTP/1.1\r\nhost: x\r\nx: ${"x".repeat(100_000)}\r\n\r\n`,
    431,
    "head"
  ]
]

layer(layerTestGateway("postgres"), { excludeTestServices: true, timeout: "60 seconds" })(
  "a request that is refused for its head",
  (it) => {
    it.effect.each(rows)("is answered in our form: %s", ([, text, status, says]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const answer = yield* rawRequest(gateway.url, [text])
        assert.strictEqual(answer?.status, status, answer?.head)
        assert.match(answer?.head ?? "", /\r\nx-request-id: req_[0-9a-f-]{36}(\r\n|$)/)
        assert.match(answer?.head ?? "", /\r\ncontent-type: application\/json(\r\n|$)/)
        // A client may keep the body back that it was to be told to send.
        if (status === 417) assert.match(answer?.head ?? "", /\r\nconnection: close(\r\n|$)/)
        const { error, ...rest } = JSON.parse(answer?.body ?? "{}")
        assert.deepStrictEqual(rest, {})
        const fields = ["message", "type", "param", "code", "doc_url"]
        assert.sameMembers(Object.keys(error), status === 405 ? [...fields, "allow"] : fields)
        assert.strictEqual(error.type, "invalid_request_error")
        assert.include(error.message, says)
      })
    )

    it.effect("needs no host in an older version, nor where the host is empty", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        for (const head of ["GET /healthz HTTP/1.0\r\n", "GET /healthz HTTP/1.1\r\nhost:\r\n"]) {
          const answer = yield* rawRequest(gateway.url, [`${head}connection: close\r\n\r\n`])
          assert.strictEqual(answer?.status, 200)
        }
      })
    )

    it.effect.each(["h2c", "websocket"])("is read whole where it offers to go on as %s", (other) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { key } = yield* gateway.customer("1")
        const answer = yield* rawRequest(gateway.url, [
          `${post}host: x\r\nauthorization: Bearer ${key}\r\n${json}`,
          `upgrade: ${other}\r\nconnection: upgrade, close\r\n\r\n`,
          order
        ])
        assert.strictEqual(answer?.status, 200, answer?.body)
        assert.match(answer?.head ?? "", /\r\nx-request-id: req_/)
      })
    )
  }
)
