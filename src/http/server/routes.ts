/**
 * The paths that are served, each in a single spelling. A proxy in front of the gateway applies its
 * rules to the path as the request spells it. So no other spelling may lead to a handler: no other
 * case, no second slash, no percent-encoded letter.
 */
import { IncomingMessage } from "node:http"
import { Context, Layer } from "effect"
import type { HttpMethod, HttpRouter, HttpServerRequest } from "effect/http"

/** The methods of routes; `HEAD` is answered like `GET`. */
type Method = Exclude<HttpMethod.HttpMethod, "HEAD" | "TRACE">

export interface Route {
  /** The path with its parameters, such as `/v1/videos/:task_id`. */
  readonly path: HttpRouter.PathInput
  readonly pattern: RegExp
  readonly methods: ReadonlyArray<Method>
}

interface Endpoint {
  readonly path: HttpRouter.PathInput
  readonly method: Method
}

/** Endpoints that are not part of the contract. */
const otherEndpoints: ReadonlyArray<Endpoint> = [
  { path: "/openapi.json", method: "GET" },
  { path: "/docs", method: "GET" },
  { path: "/", method: "GET" },
  { path: "/console/*", method: "GET" }
]

/**
 * One character of a parameter, plain or percent-encoded. Letters, digits and `-._~` must be plain
 * (RFC 3986, section 6.2.2.2), so that no encoding bypasses a proxy's rule about an id.
 */
const CHARACTER =
  "(?:[A-Za-z\\d\\-._~!$&'()*+,=:@]|%(?!2[DdEe]|3\\d|4[1-9A-Fa-f]|5[\\dAaFf]|6[1-9A-Fa-f]|7[\\dAaEe])[\\dA-Fa-f]{2})"
/** A segment of a path that is not `.` or `..`. */
const SEGMENT = `(?!\\.{1,2}(?:[/?]|$))${CHARACTER}+`

/**
 * Any path below the console, which the console's client-side router handles; it may end in a
 * slash.
 */
const SUBPATH = `(?:/(?:${SEGMENT}/)*(?:${SEGMENT})?)?`

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replace(/:[^/]+/g, () => SEGMENT).replace("/*", () => SUBPATH)}$`)

/**
 * The target exactly as the request spells it. In `url`, a target that names a host is already
 * resolved.
 */
export const targetOf = ({ source, url }: HttpServerRequest.HttpServerRequest): string =>
  source instanceof IncomingMessage ? (source.url ?? url) : url

/** The path of a request, without its query. */
export const pathOf = (url: string): string => {
  const end = url.indexOf("?")
  return end < 0 ? url : url.slice(0, end)
}

/** The path of a model whose id contains slashes. */
const slashedModel = new RegExp(`^(/v1/models/)(${SEGMENT}(?:/${SEGMENT})+)(?=\\?|$)`)

/** Encodes the slashes in a model's id, as the router would take them as separators of segments. */
export const encodeModelId = (url: string): string =>
  url.startsWith("/v1/models/")
    ? url.replace(slashedModel, (_, path: string, id: string) => path + id.replaceAll("/", "%2F"))
    : url

/** The groups of a contract, as `GatewayApi.groups` has them. */
type Groups = Readonly<Record<string, { readonly endpoints: Readonly<Record<string, Endpoint>> }>>

export interface RouteTable {
  readonly all: ReadonlyArray<Route>
  /** The routes that match the path in its exact spelling. */
  readonly at: (path: string) => ReadonlyArray<Route>
}

export const routeTableOf = (groups: Groups): RouteTable => {
  const endpoints = Object.values(groups).flatMap((group) => Object.values(group.endpoints))
  const byPath = Map.groupBy([...otherEndpoints, ...endpoints], ({ path }) => path)
  const all = [...byPath].map(
    ([path, endpointsAtPath]): Route => ({
      path,
      pattern: patternOf(path),
      methods: endpointsAtPath.map(({ method }) => method)
    })
  )
  // Routes without parameters are found by one look-up of the path. Of the others, only those with
  // the same beginning are tried, as each pattern takes longer than the look-up.
  const staticRoutes = new Map<string, ReadonlyArray<Route>>()
  const patternRoutes: Array<Route & { readonly prefix: string }> = []
  for (const route of all) {
    const [prefix = ""] = route.path.split(/:|\/\*/, 1)
    if (prefix === route.path) staticRoutes.set(route.path, [route])
    else patternRoutes.push({ ...route, prefix })
  }
  return {
    all,
    at: (path) =>
      staticRoutes.get(path) ??
      patternRoutes.filter(({ prefix, pattern }) => path.startsWith(prefix) && pattern.test(path))
  }
}

/** The route table, for the middlewares around the handlers. */
export class Routes extends Context.Service<Routes, RouteTable>()("gateway/http/Routes") {
  static readonly layer = (groups: Groups) => Layer.sync(Routes, () => routeTableOf(groups))
}
