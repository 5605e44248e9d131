/**
 * Answers requests for paths and methods that are not served. The error suggests the call that was
 * probably intended.
 */
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { type GatewayError, MethodNotAllowed, NotFound } from "../../domain/Errors.ts"
import { nearestName } from "../../domain/nearest.ts"
import { errorResponse } from "./errorResponse.ts"
import { encodeModelId, pathOf, type Route, Routes, type RouteTable } from "./routes.ts"

interface RequestLine {
  readonly method: string
  readonly url: string
}

const MAX_QUOTED_PATH = 200
/** The maximum length of a path for which a suggestion is searched. */
const MAX_COMPARED_PATH = 100
/**
 * The maximum edit distance between a mistyped and the intended path. It is small, as paths share
 * long prefixes.
 */
const MAX_EDITS = 2

const VIDEO_ORDERS = "/v1/videos/generations"
const VIDEO_TASK = "/v1/videos/:task_id"
const IMAGES = "/v1/images/generations"
const IMAGE_EDITS = "/v1/images/edits"
const CHAT = "/v1/chat/completions"

/** Paths of other APIs, without their version, and the equivalent paths of this gateway. */
const foreignPaths: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
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
  ["/images/variations", [IMAGE_EDITS]],
  ["/chat", [CHAT]],
  ["/completions", [CHAT]],
  ["/responses", ["/v1/responses"]],
  ["/messages", ["/v1/messages"]],
  ["/engines", ["/v1/models"]],
  ["/audio/translations", ["/v1/audio/transcriptions"]],
  ["/health", ["/healthz"]],
  ["/ready", ["/readyz"]]
])

const decodeSafely = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The normalised path without prefix and version: `/api/v1//%561/Videos/;x` becomes `/videos`. */
const normalizedPath = (path: string): string =>
  (
    URL.parse(`http://gateway/${decodeSafely(path).replace(/^https?:\/\/[^/]*/i, "")}`)?.pathname ??
    path
  )
    .replaceAll(/;[^/]*/g, "")
    .toLowerCase()
    .replace(/\/{2,}/g, "/")
    .replace(/\/$/, "")
    .replace(/^(?:\/api)?(?:\/v\d[a-z\d]{0,6})*(?=\/|$)/, "")

const declaredAt = (routes: RouteTable, paths: ReadonlyArray<string>): ReadonlyArray<Route> =>
  paths.flatMap((path) => routes.all.find((route) => route.path === path) ?? [])

/** The route's path with its parameters replaced by the segments of `path`. */
const fillParameters = (route: Route, path: string): string => {
  const segments = path.split("/")
  return route.path
    .split("/")
    .map((part, index) => (part.startsWith(":") ? (segments[index] ?? part) : part))
    .join("/")
}

/**
 * The route whose path is spelled most like one of `paths`; routes with the request's method come
 * first.
 */
const nearestRoute = (
  routes: RouteTable,
  method: string,
  paths: ReadonlyArray<string>
): Route | undefined => {
  const routesOfMethod = routes.all.filter(({ methods }) => methods.some((one) => one === method))
  for (const path of paths) {
    for (const group of [routesOfMethod, routes.all]) {
      const byPath = new Map(group.map((route) => [fillParameters(route, path), route]))
      const nearest = byPath.get(nearestName(path, byPath.keys(), MAX_EDITS) ?? "")
      if (nearest !== undefined) return nearest
    }
  }
  return undefined
}

/**
 * The routes that were probably meant by a request for an unserved path or method; empty where no
 * route is similar.
 */
export const suggestRoutes = (
  routes: RouteTable,
  { method, url }: RequestLine
): ReadonlyArray<Route> => {
  const requestPath = pathOf(url)
  if (requestPath.length > MAX_COMPARED_PATH) return []
  const normalized = normalizedPath(requestPath)
  const candidates = normalized.startsWith("/admin/")
    ? [normalized.replace(/^\/admin(?:\/v\d+)?/, "/admin/v1")]
    : [`/v1${normalized}`, normalized]
  for (const path of candidates) {
    const matches = path === requestPath ? [] : routes.at(encodeModelId(path))
    if (matches.length > 0) return matches
  }
  const equivalents = foreignPaths.get(normalized)
  if (equivalents !== undefined) return declaredAt(routes, equivalents)
  const nearest = nearestRoute(routes, method, candidates)
  if (nearest !== undefined) return [nearest]
  // In paths of other APIs, a segment after the path of their task list is the id of a task.
  const list = foreignPaths.get(normalized.slice(0, normalized.lastIndexOf("/"))) ?? []
  return declaredAt(
    routes,
    list.filter((path) => path === VIDEO_TASK)
  )
}

const hasId = ({ path }: Route): boolean => path.includes(":")

/** The suggested methods of a route; DELETE is suggested only when there is no other method. */
const suggestMethods = (method: string, { methods }: Route): ReadonlyArray<string> => {
  if (methods.some((one) => one === method)) return [method]
  const otherMethods = methods.filter((one) => one !== "DELETE")
  return otherMethods.length > 0 ? otherMethods : methods
}

/** Formats a call such as `GET /v1/videos/{task_id}`. */
const callOf = (method: string, route: Route): string =>
  `${suggestMethods(method, route).join(" or ")} ${route.path.replace(/:([^/]+)/g, "{$1}")}`

const suggestionText = (method: string, routes: ReadonlyArray<Route>): string =>
  routes.length === 0
    ? ""
    : `; did you mean ${routes.map((route) => callOf(method, route)).join(" or ")}?`

const notAllowed = (
  method: string,
  path: string,
  allow: ReadonlyArray<string>,
  suggestions: ReadonlyArray<Route>
): GatewayError =>
  new MethodNotAllowed({
    message: `${method} is not served at ${path}; ${allow.join(" or ")} is${suggestionText(method, suggestions)}`,
    allow
  })

/** The error for a request that matches no route. */
export const noRoute = (routes: RouteTable, request: RequestLine): GatewayError => {
  const path = pathOf(request.url)
  const quotedPath = path.slice(0, MAX_QUOTED_PATH)
  const routesAtPath = routes.at(path)
  const allow: ReadonlyArray<string> = routesAtPath.flatMap(({ methods }) => methods)
  // The last word of another API's path, such as `variations`, is an id only by its spelling.
  const isForeign = foreignPaths.has(normalizedPath(path)) && routesAtPath.every(hasId)
  // A served path with a served method matches no route when one of its ids is far too long.
  if (isForeign || allow.length === 0 || allow.includes(request.method)) {
    const hint =
      suggestionText(request.method, suggestRoutes(routes, request)) ||
      "; GET /openapi.json lists what is"
    return new NotFound({ message: `Nothing is served at ${quotedPath}${hint}` })
  }
  // A path that contains an id, or that other APIs use, may have been meant for another route.
  const hasOtherUse = routesAtPath.some(hasId) || foreignPaths.has(normalizedPath(path))
  const suggestions = hasOtherUse ? suggestRoutes(routes, request) : []
  return notAllowed(request.method, quotedPath, allow, suggestions)
}

/**
 * Adds refusing routes for static paths whose last segment would match the id parameter of another
 * route. For example, `generations` is not a task id, so `GET /v1/videos/generations` must not look
 * up a task.
 */
export const layerNoIds = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const routes = yield* Routes
    for (const { path, methods } of routes.all.filter((route) => !hasId(route))) {
      for (const otherRoute of routes.all.filter(
        (route) => hasId(route) && route.pattern.test(path)
      )) {
        for (const method of otherRoute.methods.filter((one) => !methods.includes(one))) {
          yield* router.add(
            method,
            path,
            errorResponse(notAllowed(method, path, methods, [otherRoute]))
          )
        }
      }
    }
  })
)
