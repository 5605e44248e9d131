/**
 * A path in any disguise: every route is reached by its exact spelling and by no other, whatever a
 * client writes that a router might take for the same. PROPERTY_CASES sets how many, PROPERTY_SEED
 * repeats a run.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Scope } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { GatewayApi } from "../../src/contract/GatewayApi.ts"
import { layerSecureRandom } from "../../src/crypto.ts"
import { ROUTER } from "../../src/gateway.ts"
import { layerEdge } from "../../src/http/server/envelope.ts"
import { Routes, routeTableOf } from "../../src/http/server/routes.ts"
import { layerNoIds } from "../../src/http/server/wrongPaths.ts"
import { seedOfDay } from "../support/day.ts"
import { type Dice, diceOf } from "../support/randomOrders.ts"

const routes = routeTableOf(GatewayApi.groups).all

const CASES = Number(process.env.PROPERTY_CASES ?? 3000)
const SEED = Number(process.env.PROPERTY_SEED ?? seedOfDay)

interface Reached {
  readonly path: string
  readonly params: Readonly<Record<string, string | undefined>>
}

/** Every route with a handler that notes that it ran, behind the edge of the real gateway. */
const makeRouter = Effect.gen(function* () {
  const reached: Array<Reached> = []
  const layerHandlers = HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      for (const { path, methods } of routes) {
        for (const method of methods) {
          const handler = Effect.map(HttpRouter.params, (params) => {
            reached.push({ path, params })
            return HttpServerResponse.empty()
          })
          yield* router.add(method, path, handler)
        }
      }
    })
  )
  const served = yield* HttpRouter.toHttpEffect(
    Layer.mergeAll(layerHandlers, layerNoIds, layerEdge).pipe(
      Layer.provide([layerSecureRandom, Routes.layer(GatewayApi.groups)])
    )
  ).pipe(Effect.provideService(HttpRouter.RouterConfig, ROUTER))
  const scope = yield* Scope.Scope

  /** The status of the answer to such a request line, and the handlers that ran for it. */
  return Effect.fnUntraced(function* (method: string, url: string) {
    reached.length = 0
    const request = HttpServerRequest.fromWeb(new Request("http://gateway/", { method }))
    const context = Context.make(HttpServerRequest.HttpServerRequest, request.modify({ url })).pipe(
      Context.add(Scope.Scope, scope)
    )
    const { status } = yield* Effect.provideContext(served, context)
    return { status, reached: [...reached] }
  })
})

const upper = (text: string, at: number): string =>
  text.slice(0, at) + text.charAt(at).toUpperCase() + text.slice(at + 1)

const replaced = (text: string, at: number, by: string): string =>
  text.slice(0, at) + by + text.slice(at + 1)

const hex = (char: string): string => char.charCodeAt(0).toString(16).padStart(2, "0")

/** A place in the path where `wanted` stands; -1 where there is none. */
const placeOf = (dice: Dice, path: string, wanted: RegExp): number => {
  const places = [...path.matchAll(wanted)].map(({ index }) => index)
  const [first, ...rest] = places
  return first === undefined ? -1 : dice.pick([first, ...rest])
}

const at =
  (wanted: RegExp, change: (text: string, place: number, dice: Dice) => string) =>
  (path: string, dice: Dice): string => {
    const place = placeOf(dice, path, wanted)
    return place < 0 ? `${path}/` : change(path, place, dice)
  }

/** Spellings that some router, proxy or browser takes for the same path. */
const disguises = {
  capitals: at(/[a-z]/g, upper),
  "a letter escaped": at(/[a-z\d._]/g, (text, place, dice) => {
    const code = hex(text.charAt(place))
    return replaced(text, place, `%${dice.chance(50) ? code : code.toUpperCase()}`)
  }),
  "a letter escaped twice": at(/[a-z]/g, (text, place) =>
    replaced(text, place, `%25${hex(text.charAt(place))}`)
  ),
  "an overlong escape": at(/[a-z]/g, (text, place) =>
    replaced(text, place, `%c1%${(text.charCodeAt(place) | 0x80).toString(16)}`)
  ),
  "a wide letter": at(/[a-z]/g, (text, place) =>
    replaced(text, place, String.fromCharCode(text.charCodeAt(place) + 0xfee0))
  ),
  "a second slash": at(/\//g, (text, place, dice) =>
    replaced(text, place, dice.pick(["//", "///", "/%2F"]))
  ),
  "an escaped slash": at(/\//g, (text, place, dice) =>
    replaced(text, place, dice.pick(["%2F", "%2f", "%252F", "/%2e/"]))
  ),
  "a backslash": at(/\//g, (text, place, dice) =>
    replaced(text, place, dice.pick(["\\", "/\\", "%5C", "%5c"]))
  ),
  "a step that leads nowhere": at(/\//g, (text, place, dice) =>
    replaced(text, place, dice.pick(["/./", "/x/../", "/%2e/", "/.%2E/", "/..;/", "/;/"]))
  ),
  "a slash at the end": (path: string, dice: Dice) =>
    path + dice.pick(["/", "//", "/.", "/..", "\\"]),
  parameters: at(/\/|$/g, (text, place, dice) =>
    place === 0 ? `${text};x` : text.slice(0, place) + dice.pick([";", ";x=1"]) + text.slice(place)
  ),
  "a fragment": (path: string, dice: Dice) => path + dice.pick(["#", "#x", "%23"]),
  "a whole address": (path: string, dice: Dice) =>
    dice.pick(["http://gateway", "https://gateway", "HTTP://gateway", "//gateway", "gateway"]) +
    path,
  "what a reader trims": (path: string, dice: Dice) =>
    path + dice.pick(["%20", "%09", "%00", "%0A", ".", "..", "\u00a0"])
} satisfies Readonly<Record<string, (path: string, dice: Dice) => string>>

const names = Object.keys(disguises) as unknown as [
  keyof typeof disguises,
  ...Array<keyof typeof disguises>
]

/** Ids as they are; none is a word of another route. */
const idOf = (dice: Dice): string =>
  `vt_${dice.roll(2 ** 31).toString(36)}${dice.pick(["", "-x", ".1", "~", ":a", "é", " 1", "%"])}`

const spelled = (id: string, dice: Dice): string => {
  const escaped = encodeURIComponent(id)
  if (dice.chance(50)) return escaped
  return escaped.replaceAll("%3A", ":").replaceAll(/%../g, (code) => code.toLowerCase())
}

interface Target {
  readonly route: (typeof routes)[number]
  readonly method: string
  readonly path: string
  readonly params: Readonly<Record<string, string>>
}

const drawTarget = (dice: Dice): Target => {
  const [first, ...rest] = routes
  assert.isDefined(first)
  const route = dice.pick([first, ...rest])
  const [method = "GET", ...methods] = route.methods
  const params: Record<string, string> = {}
  const path = route.path
    .replaceAll(/:([^/]+)/g, (_, name: string) => {
      const id = idOf(dice)
      params[name] = id
      return spelled(id, dice)
    })
    .replace("*", () => dice.pick(["", "orders", "orders/vt_1", "assets/index-a.js"]))
  return { route, method: dice.pick([method, ...methods]), path, params }
}

/** Whether an escape stands where none is needed. */
const isOverescaped = (segment: string): boolean =>
  [...segment.matchAll(/%([\da-f]{2})/gi)].some(([, code = ""]) =>
    /[\w.~-]/.test(String.fromCharCode(Number.parseInt(code, 16)))
  )

/** The only route whose id may hold slashes as they are. */
const SLASHED = "/v1/models/:id"

/** Whether a path is the route's, by comparing segment with segment. */
const isExact = (declared: string, path: string): boolean => {
  const open = declared.endsWith("/*")
  const isLonger = open || declared === SLASHED
  const expected = declared.replace("/*", "").split("/")
  const segments = path.split("/")
  // The console writes a slash at the end.
  const inside = open && path.endsWith("/") ? segments.slice(0, -1) : segments
  return (
    (isLonger ? inside.length >= expected.length : inside.length === expected.length) &&
    inside.every((segment, index) => {
      const word = expected[index] ?? ":"
      return word.startsWith(":")
        ? /^[!-~]+$/.test(segment) &&
            !/^\.{1,2}$|["#;<>?[\\\]^`{|}]|%(?![\da-f]{2})/i.test(segment) &&
            !isOverescaped(segment)
        : segment === word
    })
  )
}

const query = (dice: Dice): string => dice.pick(["", "", "?", "?x=1", "?/admin/v1/catalog", "?a#b"])

const casesOf = <E>(run: (dice: Dice, seed: number) => Effect.Effect<void, E>) =>
  Effect.forEach(
    Array.from({ length: CASES }, (_, index) => SEED + index),
    (seed) => run(diceOf(seed), seed),
    { discard: true }
  )

describe(`a path (PROPERTY_SEED=${SEED})`, () => {
  it.effect("is served as it is declared, with its ids, whatever its query", () =>
    Effect.gen(function* () {
      const send = yield* makeRouter
      yield* casesOf(
        Effect.fnUntraced(function* (dice, seed) {
          const { route, method, path, params } = drawTarget(dice)
          const asked = method === "GET" && dice.chance(20) ? "HEAD" : method
          const { status, reached } = yield* send(asked, path + query(dice))
          const told = `PROPERTY_SEED=${seed} ${asked} ${path}`
          assert.strictEqual(status, 204, told)
          assert.strictEqual(reached.length, 1, told)
          assert.strictEqual(reached[0]?.path, route.path, told)
          for (const [name, id] of Object.entries(params)) {
            assert.strictEqual(reached[0]?.params[name], id, told)
          }
        })
      )
    }).pipe(Effect.scoped)
  )

  it.effect("in any disguise is 404 and no handler runs, unless it is another one exactly", () =>
    Effect.gen(function* () {
      const send = yield* makeRouter
      yield* casesOf(
        Effect.fnUntraced(function* (dice, seed) {
          const { method, path } = drawTarget(dice)
          let disguised: string = path
          for (let turn = dice.roll(3); turn >= 0; turn--) {
            disguised = disguises[dice.pick(names)](disguised, dice)
          }
          const asked = dice.pick([method, method, "HEAD", "OPTIONS", "GET", "POST"])
          const { status, reached } = yield* send(asked, disguised + query(dice))
          const told = `PROPERTY_SEED=${seed} ${asked} ${disguised} for ${path}`
          const isOther = routes.some((route) => isExact(route.path, disguised))
          for (const one of reached) assert.isTrue(isExact(one.path, disguised), told)
          if (!isOther) assert.deepStrictEqual([status, reached], [404, []], told)
        })
      )
    }).pipe(Effect.scoped)
  )
})
