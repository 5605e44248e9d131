/**
 * The paths that are served, each in one spelling. A rule of a proxy in front compares the path as it
 * stands in the request, so nothing else may lead to a handler: no other case, no second slash, no
 * escape of a letter.
 */
import { IncomingMessage } from "node:http"
import type { HttpMethod, HttpRouter, HttpServerRequest } from "effect/http"
import { GatewayApi } from "../api/GatewayApi.ts"

/** Those a route may have; `HEAD` is answered as `GET` is. */
type Method = Exclude<HttpMethod.HttpMethod, "HEAD" | "TRACE">

export interface Route {
  /** As it is declared, with its parameters: `/v1/videos/:task_id`. */
  readonly path: HttpRouter.PathInput
  readonly pattern: RegExp
  readonly methods: ReadonlyArray<Method>
}

const calls: ReadonlyArray<{ readonly path: Route["path"]; readonly method: Method }> = [
  { path: "/openapi.json", method: "GET" },
  { path: "/docs", method: "GET" },
  { path: "/", method: "GET" },
  { path: "/console/*", method: "GET" },
  ...Object.values(GatewayApi.groups).flatMap(({ endpoints }) => Object.values(endpoints))
]

/**
 * One character of a parameter: as itself, or percent-encoded. Letters, digits and `-._~` stand for
 * themselves (RFC 3986, section 6.2.2.2), so that no rule about an id is passed by either.
 */
const CHARACTER =
  "(?:[A-Za-z\\d\\-._~!$&'()*+,=:@]|%(?!2[DdEe]|3\\d|4[1-9A-Fa-f]|5[\\dAaFf]|6[1-9A-Fa-f]|7[\\dAaEe])[\\dA-Fa-f]{2})"
/** A part of a path between slashes, which is no step to another one. */
const SEGMENT = `(?!\\.{1,2}(?:[/?]|$))${CHARACTER}+`

/** Below the console its own router reads the path, which ends in a slash where that comes back to a page. */
const BELOW = `(?:/(?:${SEGMENT}/)*(?:${SEGMENT})?)?`

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replace(/:[^/]+/g, () => SEGMENT).replace("/*", () => BELOW)}$`)

export const routes = [...Map.groupBy(calls, ({ path }) => path)].map(
  ([path, served]): Route => ({
    path,
    pattern: patternOf(path),
    methods: served.map(({ method }) => method)
  })
)

/** The target as it stands in the request; the server's `url` is resolved where it names a host. */
export const targetOf = ({ source, url }: HttpServerRequest.HttpServerRequest): string =>
  source instanceof IncomingMessage ? (source.url ?? url) : url

/** The path of a request, without its query. */
export const pathOf = (url: string): string => {
  const end = url.indexOf("?")
  return end < 0 ? url : url.slice(0, end)
}

/** The id of a model behind its path, where it holds slashes. */
const slashedModel = new RegExp(`^(/v1/models/)(${SEGMENT}(?:/${SEGMENT})+)(?=\\?|$)`)

/** An address as the routes know it: the slashes in a model's id separate no segments of the path. */
export const withWholeId = (url: string): string =>
  url.replace(slashedModel, (_, path: string, id: string) => path + id.replaceAll("/", "%2F"))

/** Those without a parameter, which the most frequent requests are for. */
const plainRoutes = new Map<string, ReadonlyArray<Route>>(
  routes.filter(({ path }) => !/[:*]/.test(path)).map((route) => [route.path, [route]])
)

/** The routes that a path is an exact spelling of. */
export const routesAt = (path: string): ReadonlyArray<Route> =>
  plainRoutes.get(path) ?? routes.filter(({ pattern }) => pattern.test(path))
