import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Gateway, layerTestGateway } from "../support/gateway.ts"

const get = (path: string, init: RequestInit = {}) =>
  Effect.flatMap(Gateway, ({ url }) =>
    Effect.promise(async () => {
      const response = await fetch(`${url}${path}`, { redirect: "manual", ...init })
      return { status: response.status, headers: response.headers, text: await response.text() }
    })
  )

const scriptOf = (page: string): string => /src="(\/console\/[^"]+\.js)"/.exec(page)?.[1] ?? ""

layer(layerTestGateway("embedded"), { excludeTestServices: true, timeout: "60 seconds" })(
  "the console's files",
  (it) => {
    it.effect("are led to from the root, and from the path without a slash", () =>
      Effect.gen(function* () {
        for (const path of ["/", "/console"]) {
          const answer = yield* get(path)
          assert.deepStrictEqual(
            [answer.status, answer.headers.get("location")],
            [302, "/console/"],
            path
          )
        }
      })
    )

    it.effect(
      "come with a policy that lets nothing in from elsewhere, and a nonce of each answer",
      () =>
        Effect.gen(function* () {
          const [first, second] = [yield* get("/console/"), yield* get("/console/orders/vt_1?x=y")]
          assert.deepStrictEqual([first.status, second.status], [200, 200])
          const policy = first.headers.get("content-security-policy") ?? ""
          const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? ""
          assert.isAtLeast(nonce.length, 20)
          assert.notInclude(second.headers.get("content-security-policy") ?? "", nonce)
          assert.include(first.text, `nonce="${nonce}"`)
          assert.notInclude(first.text, "CONSOLE_NONCE")
          assert.include(policy, "default-src 'none'")
          assert.include(policy, "script-src 'self';")
          assert.notInclude(policy, "unsafe")
          assert.notInclude(policy, "http")
          assert.notMatch(first.text, /<script(?![^>]*\ssrc=)/)
          assert.strictEqual(first.headers.get("cache-control"), "no-store")
        })
    )

    it.effect("are kept by browsers, and come compressed to those who take that", () =>
      Effect.gen(function* () {
        const script = scriptOf((yield* get("/console/")).text)
        const plain = yield* get(script, { headers: { "accept-encoding": "gzip" } })
        const packed = yield* get(script, { headers: { "accept-encoding": "gzip, br" } })
        assert.deepStrictEqual([plain.status, packed.status], [200, 200])
        assert.deepStrictEqual(
          [plain, packed].map(({ headers }) => headers.get("content-encoding")),
          [null, "br"]
        )
        assert.strictEqual(packed.text, plain.text)
        assert.include(plain.headers.get("cache-control") ?? "", "immutable")
        assert.match(plain.headers.get("content-type") ?? "", /^text\/javascript/)
        const refused = yield* get(script, { headers: { "accept-encoding": "br;q=0, gzip" } })
        assert.strictEqual(refused.headers.get("content-encoding"), null)
      })
    )

    it.effect("are all that can be read there", () =>
      Effect.gen(function* () {
        const paths = [
          "/console/none.js",
          "/console/..%2f..%2fpackage.json",
          "/console/%2e%2e/package.json",
          "/console/.built-from",
          "/console/.vite/manifest.json",
          "/console/index.html.br"
        ]
        for (const path of paths) {
          const answer = yield* get(path)
          // A path without an ending is an address of the console's own.
          if (answer.status !== 404) assert.include(answer.text, '<div id="root">', path)
        }
        const posted = yield* get("/console/orders", { method: "POST" })
        assert.deepStrictEqual([posted.status, posted.headers.get("allow")], [405, "GET"])
      })
    )
  }
)
