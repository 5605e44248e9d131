/** What a request for a path or method that is not served is told: the call that was meant. */
import { type GatewayError, MethodNotAllowed, NotFound } from "../../domain/Errors.ts"
import { nearestName } from "../../domain/nearest.ts"
import { pathOf, type Route, routes, routesAt } from "./routes.ts"

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

/** Those of `elsewhere` behind which an id of a task may stand. */
const taskLists: ReadonlySet<string> = new Set(
  [...elsewhere].flatMap(([path, ours]) => (ours.includes(VIDEO_TASK) ? [path] : []))
)

/** As the router reads it, which takes capitals, doubled slashes and one at the end for nothing. */
const plainPath = (url: string): string =>
  pathOf(url)
    .toLowerCase()
    .replace(/\/{2,}/g, "/")
    .replace(/\/$/, "")

/** `/api/v1/v1/videos` is `/videos`. */
const withoutVersion = (path: string): string =>
  path.replace(/^(?:\/api)?(?:\/v\d[a-z\d]{0,6})*(?=\/|$)/, "")

const declared = new Map(routes.map((route) => [route.path, route]))

const declaredAt = (paths: ReadonlyArray<string>): ReadonlyArray<Route> =>
  paths.flatMap((path) => declared.get(path) ?? [])

/** The route's path with what `path` has where the route has its parameters. */
const filledIn = (route: Route, path: string): string => {
  const given = path.split("/")
  return route.path
    .split("/")
    .map((part, index) => (part.startsWith(":") ? (given[index] ?? part) : part))
    .join("/")
}

/** The routes that a request for another path or method is likely to mean; none where that is unknown. */
export const routesMeant = ({ method, url }: Asked): ReadonlyArray<Route> => {
  const asked = pathOf(url)
  if (asked.length > MAX_COMPARED_PATH) return []
  const bare = withoutVersion(plainPath(url))
  const candidates = bare.startsWith("/admin/")
    ? [bare.replace(/^\/admin(?:\/v\d+)?/, "/admin/v1")]
    : [`/v1${bare}`, bare]
  for (const path of candidates) {
    const found = path === asked ? [] : routesAt(path)
    if (found.length > 0) return found
  }
  const known = elsewhere.get(bare)
  if (known !== undefined) return declaredAt(known)
  const serving = routes.filter(({ methods }) => methods.includes(method))
  for (const path of candidates) {
    for (const some of [serving, routes]) {
      const byPath = new Map(some.map((route) => [filledIn(route, path), route]))
      const near = byPath.get(nearestName(path, byPath.keys(), MAX_EDITS) ?? "")
      if (near !== undefined) return [near]
    }
  }
  return taskLists.has(bare.slice(0, bare.lastIndexOf("/"))) ? declaredAt([VIDEO_TASK]) : []
}

/** `GET /v1/videos/{task_id}` */
const callOf = ({ methods, path }: Route): string =>
  `${methods.join(" or ")} ${path.replace(/:([^/]+)/g, "{$1}")}`

const orMeant = (meant: ReadonlyArray<Route>): string =>
  meant.length === 0 ? "" : `; did you mean ${meant.map(callOf).join(" or ")}?`

/** The answer to a request that no route takes. */
export const noRoute = (asked: Asked): GatewayError => {
  const path = pathOf(asked.url)
  const quoted = path.slice(0, MAX_QUOTED_PATH)
  const there = routesAt(path)
  const allow = there.flatMap(({ methods }) => methods)
  // A known path with a known method is not routed when one of its ids is absurdly long.
  if (allow.length === 0 || allow.includes(asked.method)) {
    const meant = orMeant(routesMeant(asked))
    return new NotFound({
      message: `Nothing is served at ${quoted}${meant || "; GET /openapi.json lists what is"}`
    })
  }
  // A path that no route has as it stands is one with an id in it, and may have been meant otherwise.
  const meant = there.some((route) => route.path.includes(":")) ? routesMeant(asked) : []
  return new MethodNotAllowed({
    message: `${asked.method} is not served at ${quoted}; ${allow.join(" or ")} is${orMeant(meant)}`,
    allow
  })
}

/**
 * By paths without a parameter, the routes with one that would take the last of their words for an id.
 * `generations` is no task, so that `GET /v1/videos/generations` asks for none.
 */
const mistaken: ReadonlyMap<string, ReadonlyArray<Route>> = new Map(
  routes.flatMap((plain) => {
    const others = routes.filter(
      ({ path, pattern, methods }) =>
        path.includes(":") &&
        pattern.test(plain.path) &&
        methods.some((method) => !plain.methods.includes(method))
    )
    return plain.path.includes(":") || others.length === 0 ? [] : [[plain.path, others] as const]
  })
)

/** The answer to a request that a route would take by mistake; null for all others. */
export const notAnId = ({ method, url }: Asked): GatewayError | null => {
  const path = plainPath(url)
  const others = mistaken.get(path)?.filter(({ methods }) => methods.includes(method)) ?? []
  const allow = declared.get(path)?.methods ?? []
  return others.length === 0 || allow.includes(method)
    ? null
    : new MethodNotAllowed({
        message: `${method} is not served at ${path}; ${allow.join(" or ")} is${orMeant(others)}`,
        allow
      })
}
