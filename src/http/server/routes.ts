/**
 * The paths that are served, each in one spelling. A rule of a proxy in front compares the path as it
 * stands in the request, so nothing else may lead to a handler: no other case, no second slash, no
 * escape of a letter.
 */
import { IncomingMessage } from "node:http"
import { Context, Layer } from "effect"
import type { HttpMethod, HttpRouter, HttpServerRequest } from "effect/http"

/** Those a route may have; `HEAD` is answered as `GET` is. */
type Method = Exclude<HttpMethod.HttpMethod, "HEAD" | "TRACE">

export interface Route {
  /** As it is declared, with its parameters: `/v1/videos/:task_id`. */
  readonly path: HttpRouter.PathInput
  readonly pattern: RegExp
  readonly methods: ReadonlyArray<Method>
}

interface Endpoint {
  readonly path: HttpRouter.PathInput
  readonly method: Method
}

/** Served beside the contract. */
const otherEndpoints: ReadonlyArray<Endpoint> = [
  { path: "/openapi.json", method: "GET" },
  { path: "/docs", method: "GET" },
  { path: "/", method: "GET" },
  { path: "/console/*", method: "GET" }
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

/** The groups of a contract, as `GatewayApi.groups` has them. */
type Groups = Readonly<Record<string, { readonly endpoints: Readonly<Record<string, Endpoint>> }>>

export interface RouteTable {
  readonly all: ReadonlyArray<Route>
  /** The routes that a path is an exact spelling of. */
  readonly at: (path: string) => ReadonlyArray<Route>
}

export const routeTableOf = (groups: Groups): RouteTable => {
  const endpoints = Object.values(groups).flatMap((group) => Object.values(group.endpoints))
  const byPath = Map.groupBy([...otherEndpoints, ...endpoints], ({ path }) => path)
  const all = [...byPath].map(
    ([path, served]): Route => ({
      path,
      pattern: patternOf(path),
      methods: served.map(({ method }) => method)
    })
  )
  // Routes without a parameter, which are requested most, are found by their path alone.
  const plainRoutes = new Map<string, ReadonlyArray<Route>>(
    all.filter(({ path }) => !/[:*]/.test(path)).map((route) => [route.path, [route]])
  )
  return {
    all,
    at: (path) => plainRoutes.get(path) ?? all.filter(({ pattern }) => pattern.test(path))
  }
}

/** What the gateway serves, known to all that stands around the handlers. */
export class Routes extends Context.Service<Routes, RouteTable>()("gateway/http/Routes") {
  static readonly layer = (groups: Groups) => Layer.sync(Routes, () => routeTableOf(groups))
}
