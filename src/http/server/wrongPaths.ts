/** What a request for a path or method that is not served is told: the call that was meant. */
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { type GatewayError, MethodNotAllowed, NotFound } from "../../domain/Errors.ts"
import { nearestName } from "../../domain/nearest.ts"
import { errorResponse } from "./errorResponse.ts"
import { pathOf, type Route, Routes, type RouteTable, withWholeId } from "./routes.ts"

interface Asked {
  readonly method: string
  readonly url: string
}

const MAX_QUOTED_PATH = 200
/** Longer paths are not compared with others. */
const MAX_COMPARED_PATH = 100
/** Paths are alike by their first parts, so few letters tell them apart. */
const MAX_EDITS = 2

const VIDEO_ORDERS = "/v1/videos/generations"
const VIDEO_TASK = "/v1/videos/:task_id"
const IMAGES = "/v1/images/generations"
const CHAT = "/v1/chat/completions"

/** Paths of other interfaces, without their version, and ours for the same. */
const elsewhere: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["/videos", [VIDEO_ORDERS, VIDEO_TASK]],
  ["/video", [VIDEO_ORDERS, VIDEO_TASK]],
  ["/video/generations", [VIDEO_ORDERS, VIDEO_TASK]],
  ["/video/generations/tasks", [VIDEO_ORDERS, VIDEO_TASK]],
  ["/contents/generations/tasks", [VIDEO_ORDERS, VIDEO_TASK]],
  ["/tasks", [VIDEO_TASK]],
  ["/videos/edits", [VIDEO_ORDERS]],
  ["/videos/text2video", [VIDEO_ORDERS]],
  ["/videos/image2video", [VIDEO_ORDERS]],
  ["/images", [IMAGES]],
  ["/images/edits", [IMAGES]],
  ["/images/variations", [IMAGES]],
  ["/chat", [CHAT]],
  ["/completions", [CHAT]],
  ["/responses", [CHAT]],
  ["/messages", [CHAT]],
  ["/engines", ["/v1/models"]],
  ["/audio/translations", ["/v1/audio/transcriptions"]],
  ["/health", ["/healthz"]],
  ["/ready", ["/readyz"]]
])

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * What a client is likely to mean by a path in another spelling, without its version:
 * `/api/v1//%561/Videos/;x` is `/videos`.
 */
const bareOf = (path: string): string =>
  (URL.parse(`http://gateway/${decoded(path).replace(/^https?:\/\/[^/]*/i, "")}`)?.pathname ?? path)
    .replaceAll(/;[^/]*/g, "")
    .toLowerCase()
    .replace(/\/{2,}/g, "/")
    .replace(/\/$/, "")
    .replace(/^(?:\/api)?(?:\/v\d[a-z\d]{0,6})*(?=\/|$)/, "")

const declaredAt = (routes: RouteTable, paths: ReadonlyArray<string>): ReadonlyArray<Route> =>
  paths.flatMap((path) => routes.all.find((route) => route.path === path) ?? [])

/** The route's path with what `path` has where the route has its parameters. */
const filledIn = (route: Route, path: string): string => {
  const given = path.split("/")
  return route.path
    .split("/")
    .map((part, index) => (part.startsWith(":") ? (given[index] ?? part) : part))
    .join("/")
}

/** The routes that a request for another path or method is likely to mean; none where that is unknown. */
export const routesMeant = (routes: RouteTable, { method, url }: Asked): ReadonlyArray<Route> => {
  const asked = pathOf(url)
  if (asked.length > MAX_COMPARED_PATH) return []
  const bare = bareOf(asked)
  const candidates = bare.startsWith("/admin/")
    ? [bare.replace(/^\/admin(?:\/v\d+)?/, "/admin/v1")]
    : [`/v1${bare}`, bare]
  for (const path of candidates) {
    const found = path === asked ? [] : routes.at(withWholeId(path))
    if (found.length > 0) return found
  }
  const known = elsewhere.get(bare)
  if (known !== undefined) return declaredAt(routes, known)
  const serving = routes.all.filter(({ methods }) => methods.some((one) => one === method))
  for (const path of candidates) {
    for (const some of [serving, routes.all]) {
      const byPath = new Map(some.map((route) => [filledIn(route, path), route]))
      const near = byPath.get(nearestName(path, byPath.keys(), MAX_EDITS) ?? "")
      if (near !== undefined) return [near]
    }
  }
  // What stands behind a list of tasks is the id of one.
  const list = elsewhere.get(bare.slice(0, bare.lastIndexOf("/"))) ?? []
  return declaredAt(
    routes,
    list.filter((path) => path === VIDEO_TASK)
  )
}

const hasId = ({ path }: Route): boolean => path.includes(":")

/** The methods of a route that a request is likely to mean: to delete is not, where there is another. */
const methodsMeant = (asked: string, { methods }: Route): ReadonlyArray<string> => {
  if (methods.some((method) => method === asked)) return [asked]
  const others = methods.filter((method) => method !== "DELETE")
  return others.length > 0 ? others : methods
}

/** `GET /v1/videos/{task_id}` */
const callOf = (asked: string, route: Route): string =>
  `${methodsMeant(asked, route).join(" or ")} ${route.path.replace(/:([^/]+)/g, "{$1}")}`

const orMeant = (asked: string, meant: ReadonlyArray<Route>): string =>
  meant.length === 0
    ? ""
    : `; did you mean ${meant.map((route) => callOf(asked, route)).join(" or ")}?`

const notAllowed = (
  method: string,
  path: string,
  allow: ReadonlyArray<string>,
  meant: ReadonlyArray<Route>
): GatewayError =>
  new MethodNotAllowed({
    message: `${method} is not served at ${path}; ${allow.join(" or ")} is${orMeant(method, meant)}`,
    allow
  })

/** The answer to a request that no route takes. */
export const noRoute = (routes: RouteTable, asked: Asked): GatewayError => {
  const path = pathOf(asked.url)
  const quoted = path.slice(0, MAX_QUOTED_PATH)
  const there = routes.at(path)
  const allow: ReadonlyArray<string> = there.flatMap(({ methods }) => methods)
  // A known path with a known method is not routed when one of its ids is absurdly long.
  if (allow.length === 0 || allow.includes(asked.method)) {
    const hint =
      orMeant(asked.method, routesMeant(routes, asked)) || "; GET /openapi.json lists what is"
    return new NotFound({ message: `Nothing is served at ${quoted}${hint}` })
  }
  // A path with an id in it, or with another use elsewhere, may have been meant otherwise.
  const mayBeMeant = there.some(hasId) || elsewhere.has(bareOf(path))
  const meant = mayBeMeant ? routesMeant(routes, asked) : []
  return notAllowed(asked.method, quoted, allow, meant)
}

/**
 * Routes of their own for paths whose last word another route would take for an id: `generations` is
 * no task, so that `GET /v1/videos/generations` asks for none.
 */
export const layerNoIds = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const routes = yield* Routes
    for (const { path, methods } of routes.all.filter((route) => !hasId(route))) {
      for (const other of routes.all.filter((route) => hasId(route) && route.pattern.test(path))) {
        for (const method of other.methods.filter((one) => !methods.includes(one))) {
          yield* router.add(method, path, errorResponse(notAllowed(method, path, methods, [other])))
        }
      }
    }
  })
)
