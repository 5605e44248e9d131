/**
 * The API reference: a page to read the contract and try its requests, which loads nothing from
 * other origins.
 */
import { Effect, Layer, Scope } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { type HttpApi, type HttpApiGroup, HttpApiScalar } from "effect/http-api"

/** The content security policy of the page: its script can connect only to this gateway. */
const POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline' 'unsafe-eval'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  // The console shows the page in a frame.
  "frame-ancestors 'self'"
].join("; ")

/**
 * Nothing of the page leads to the services of its maker. It has the appearance of the system, or
 * that of the console around it, so it has no switch of its own.
 */
const configuration = {
  hideDarkModeToggle: true,
  withDefaultFonts: false,
  showDeveloperTools: "never",
  hideClientButton: true,
  telemetry: false
}

/**
 * Serves the page. The script of the page has several megabytes, so it is loaded at the first
 * request.
 */
export const layerDocsPage = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const scope = yield* Effect.scope
      const page = yield* Effect.cached(
        HttpRouter.toHttpEffect(HttpApiScalar.layer(api, { scalar: configuration })).pipe(
          // With the memo map of the running server, the page would get the router of the server,
          // where its path is taken.
          Effect.provideServiceEffect(Layer.CurrentMemoMap, Layer.makeMemoMap),
          Scope.provide(scope)
        )
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
