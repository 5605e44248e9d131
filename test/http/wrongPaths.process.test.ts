/** Requests for paths and methods that are not served are told which call was meant. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { GatewayApi } from "../../src/contract/GatewayApi.ts"
import { routeTableOf } from "../../src/http/server/routes.ts"
import { suggestRoutes } from "../../src/http/server/wrongPaths.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"

const Failed = Schema.Struct({
  error: Schema.Struct({ code: Schema.String, message: Schema.String })
})

const VIDEOS = "POST /v1/videos/generations or GET /v1/videos/{task_id}"

layer(layerTestGateway("embedded"), { excludeTestServices: true, timeout: "60 seconds" })(
  "a wrong path",
  (it) => {
    it.effect.each([
      ["POST", "/v1/video/generations", VIDEOS],
      ["GET", "/v1/video/generations/vt_1", "GET /v1/videos/{task_id}"],
      ["GET", "/v1/tasks/vt_1", "GET /v1/videos/{task_id}"],
      ["GET", "/v1/video/vt_1", "GET /v1/videos/{task_id}"],
      ["POST", "/api/v3/contents/generations/tasks", VIDEOS],
      ["POST", "/v1/image/generations", "POST /v1/images/generations"],
      ["POST", "/images/generations", "POST /v1/images/generations"],
      ["POST", "/v1/v1/images/generations", "POST /v1/images/generations"],
      ["POST", "/v2/images/generations", "POST /v1/images/generations"],
      ["POST", "/videos/generations", "POST /v1/videos/generations"],
      ["POST", "/v1/chat/completion", "POST /v1/chat/completions"],
      ["POST", "/v1/completions", "POST /v1/chat/completions"],
      ["POST", "/responses", "POST /v1/responses"],
      ["POST", "/v1/response", "POST /v1/responses"],
      ["POST", "/messages", "POST /v1/messages"],
      ["POST", "/V1/Chat/Completion/", "POST /v1/chat/completions"],
      ["POST", "/v1/embedding", "POST /v1/embeddings"],
      ["POST", "/v1/images/variations", "POST /v1/images/edits"],
      ["POST", "/v1/videos/text2video", "POST /v1/videos/generations"],
      ["GET", "/model", "GET /v1/models"],
      ["GET", "/admin/catalog", "GET /admin/v1/catalog"],
      ["GET", "/admin/v1/organisations/org_1", "GET /admin/v1/organizations/{id}"],
      ["GET", "/health", "GET /healthz"]
    ] as const)("%s %s names %s", ([method, path, meant]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const answer = yield* gateway.call(path, { method })
        assert.strictEqual(answer.status, 404, answer.text)
        const { error } = yield* bodyAs(Failed, answer)
        assert.strictEqual(error.code, "not_found")
        const said = path.split("?")[0]
        assert.strictEqual(error.message, `Nothing is served at ${said}; did you mean ${meant}?`)
      })
    )

    it.effect.each([
      "/v1",
      "/v1/nothing",
      "/v1/assistants/asst-1",
      `/v1/videos/${"x/".repeat(500)}`
    ])("%s that nothing is like names the list of paths", (path) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { error } = yield* bodyAs(Failed, yield* gateway.call(path))
        assert.match(error.message, /^Nothing is served at \S{1,200}; GET \/openapi.json lists/)
      })
    )

    it.effect.each([
      ["GET", "/v1/models/", "GET /v1/models"],
      ["GET", "/V1/Models", "GET /v1/models"],
      ["GET", "/v1//models", "GET /v1/models"],
      ["GET", "/v1/models/maker/film-1/", "GET /v1/models/{id}"],
      ["GET", "/v1/models/maker//film-1", "GET /v1/models/{id}"],
      ["POST", "/V1//Videos/Generations", "POST /v1/videos/generations"],
      ["GET", "/METRICS", "GET /metrics"],
      ["GET", "/Console/orders", "GET /console/*"]
    ] as const)("%s %s, which is another spelling, names %s", ([method, path, meant]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { key } = yield* gateway.customer("1")
        const answer = yield* gateway.call(path, { method, key })
        assert.strictEqual(answer.status, 404, answer.text)
        const { error } = yield* bodyAs(Failed, answer)
        assert.strictEqual(error.message, `Nothing is served at ${path}; did you mean ${meant}?`)
      })
    )

    it.effect.each([
      ["/v1/images/generation", "GET or DELETE", "POST /v1/images/generations"],
      ["/v1/videos/generation", "GET or DELETE", "POST /v1/videos/generations"],
      ["/v1/videos/edit", "GET or DELETE", "POST /v1/videos/edits"]
    ])("POST %s, which has no POST but %s, names %s", ([path = "", served, meant]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const answer = yield* gateway.call(path, { method: "POST" })
        assert.strictEqual(answer.status, 405, answer.text)
        const { error } = yield* bodyAs(Failed, answer)
        assert.strictEqual(
          error.message,
          `POST is not served at ${path}; ${served} is; did you mean ${meant}?`
        )
      })
    )

    it.effect.each(["/v1/videos/generations", "/v1/videos/generations?wait=5"])(
      "GET %s asks for no task",
      (path) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          for (const options of [{}, { key: who.key }]) {
            const answer = yield* gateway.call(path, { method: "GET", ...options })
            assert.strictEqual(answer.status, 405, answer.text)
            assert.strictEqual(answer.headers.get("allow"), "POST")
            const { error } = yield* bodyAs(Failed, answer)
            assert.strictEqual(error.code, "method_not_allowed")
            assert.strictEqual(
              error.message,
              "GET is not served at /v1/videos/generations; POST is; did you mean GET /v1/videos/{task_id}?"
            )
          }
        })
    )
  }
)

const routes = routeTableOf(GatewayApi.groups)

describe("the path that was meant", () => {
  it.prop(
    "is looked for in any path, quickly",
    [Schema.String, Schema.Literals(["GET", "POST", "BREW"])],
    ([path, method]) => {
      suggestRoutes(routes, { method, url: `/${path}` })
    }
  )
})
