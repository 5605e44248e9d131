/** The contract for people: a page to read and try it that loads nothing from elsewhere. */
import { Effect, Scope } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiScalar } from "effect/http-api"
import { GatewayApi } from "../api/GatewayApi.ts"

/** The page's script can ask this gateway alone. */
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
export const layerDocsPage = HttpRouter.use(
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
