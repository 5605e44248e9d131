/** The interface's paths, to tell a wrong method from a wrong path and to name routes in metrics. */
import type { HttpMethod, HttpRouter } from "effect/http"
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

export const routes = [...Map.groupBy(calls, ({ path }) => path)].map(
  ([path, served]): Route => ({
    path,
    pattern: new RegExp(`^${path.replace(/:[^/]+/g, "[^/]+").replace("/*", "(?:/.*)?")}/?$`),
    methods: served.map(({ method }) => method)
  })
)

/** The path of a request, without its query. */
export const pathOf = (url: string): string => {
  const end = url.search(/[?#]/)
  return end < 0 ? url : url.slice(0, end)
}

/** The id of a model behind its path, where it holds slashes; one at the end is none of its. */
const slashedModel = /^(\/v1\/models\/)([^?#/]+\/[^?#]*[^?#/])(?=\/?(?:[?#]|$))/i

/** An address as the routes know it: the slashes in a model's id are no steps of the path. */
export const withWholeId = (url: string): string =>
  url.replace(slashedModel, (_, path: string, id: string) => path + id.replaceAll("/", "%2F"))

/** Those without a parameter, which the most frequent requests are for. */
const plainRoutes = new Map<string, ReadonlyArray<Route>>(
  routes.filter(({ path }) => !/[:*]/.test(path)).map((route) => [route.path, [route]])
)

export const routesAt = (path: string): ReadonlyArray<Route> =>
  plainRoutes.get(path) ?? routes.filter(({ pattern }) => pattern.test(path))
