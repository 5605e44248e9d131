/**
 * The contract for people and for generators of clients: the OpenAPI document at `/openapi.json`, and
 * an interactive page at `/docs` that comes with its script and asks nobody else for anything.
 */
import { Effect, Layer, Scope } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiScalar, OpenApi } from "effect/http-api"
import { GatewayApi } from "../api/GatewayApi.ts"

/** Nothing but this gateway is asked, whatever the page's script would like. */
const POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline' 'unsafe-eval'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'"
].join("; ")

/** The page's script has megabytes, so it is loaded when somebody asks for it. */
const layerPage = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const scope = yield* Effect.scope
    const page = yield* Effect.cached(
      HttpRouter.toHttpEffect(
        HttpApiScalar.layer(GatewayApi, { scalar: { withDefaultFonts: false } })
      ).pipe(Scope.provide(scope))
    )
    yield* router.add(
      "GET",
      "/docs",
      Effect.flatten(page).pipe(
        Effect.map(HttpServerResponse.setHeader("content-security-policy", POLICY))
      )
    )
  })
)

const layerDocument = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const document = yield* Effect.cached(
      Effect.sync(() => HttpServerResponse.jsonUnsafe(OpenApi.fromApi(GatewayApi)))
    )
    yield* router.add("GET", "/openapi.json", document)
  })
)

export const layerReference = Layer.merge(layerPage, layerDocument)
