/**
 * Vendors that refuse, and answers that only look like it: no second vendor and no second key is called,
 * and no client told to order again, where the first one may have made the order. The scripted vendors
 * know whether they made it. PROPERTY_CASES sets how many answers every adapter reads, of which one in
 * fifty is also sent through the whole gateway; PROPERTY_SEED repeats a run.
 */
import { randomUUID } from "node:crypto"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Result, Schema } from "effect"
import { layerAdapters } from "../../src/adapters/liveAdapters.ts"
import { VendorWire } from "../../src/adapters/wire/VendorWire.ts"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import {
  doubtOf,
  isAboutKey,
  mayFailOver,
  upstreamErrorOf,
  type VendorFailure
} from "../../src/domain/VendorOutcome.ts"
import { type ChannelAccount, ProtocolAdapter } from "../../src/services/ProtocolAdapter.ts"
import { orderOf } from "../adapters/support.ts"
import { brokenVendor, type ReceivedRequest, type Reply } from "../support/brokenVendor.ts"
import { seedOfDay } from "../support/day.ts"
import { bodyAs, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import type { HttpAnswer } from "../support/http.ts"
import { leastInput, protocolCatalog, ways } from "../support/protocolCatalog.ts"
import { diceOf } from "../support/randomOrders.ts"
import { TALK_PRICES } from "../support/textCatalog.ts"
import { wireTo } from "../support/wire.ts"
import type { Mark } from "./answerParts.ts"
import { productOf } from "./forms.ts"
import { otherModels, type Plan, plain, SHOTS_MODEL, VEO_MODEL } from "./plans.ts"
import { drawSaid, models, named, type Said } from "./refusalForms.ts"

const CASES = Number(process.env.PROPERTY_CASES ?? 1000)
const SEED = Number(process.env.PROPERTY_SEED ?? seedOfDay)

/** The kinds of orders whose vendors have a second mount here. */
type RefusedKind = Extract<Plan["kind"], "image" | "video" | "chat" | "embedding">

interface Case {
  readonly model: string
  readonly kind: RefusedKind
  readonly isStreamed: boolean
  readonly answer: Said
  readonly seed: number
}

const kindOf = (model: string): RefusedKind => {
  if (model === "talk") return "chat"
  if (model === "vector") return "embedding"
  const isImage = [...ways, ...otherModels].some(
    (one) => one.model === model && one.modality === "image"
  )
  return isImage ? "image" : "video"
}

const drawCase = (seed: number): Case => {
  const dice = diceOf(seed)
  const model = models[dice.roll(models.length)] ?? "talk"
  const isStreamed = (model === "talk" || model === "paint-a") && dice.chance(50)
  return { model, kind: kindOf(model), isStreamed, answer: drawSaid(dice, model), seed }
}

/** The found forms, at models in the standard form of each kind, and at all where nothing is refused. */
const namedCases: ReadonlyArray<Case> = named.flatMap((answer) =>
  (answer.isMade ? models : ["paint-a", "talk", "vector"]).map((model) => ({
    model,
    kind: kindOf(model),
    isStreamed: false,
    answer,
    seed: SEED
  }))
)

const told = ({ model, isStreamed, answer, seed }: Case): string =>
  `PROPERTY_SEED=${seed} PROPERTY_CASES=1: ${model}${isStreamed ? " streamed" : ""}, ${answer.says}: ` +
  `${answer.status} ${JSON.stringify(answer.headers)} ${answer.body}`

/** A length and a resolution that the model has; one has no resolutions. */
const shapeOf = (model: string) => ({
  seconds: model === VEO_MODEL ? 8 : 5,
  ...(model === SHOTS_MODEL ? { resolution: null } : {})
})

// What the adapters make of an answer

const account: ChannelAccount = {
  channelId: "ch",
  baseUrl: "https://vendor.test/v1",
  apiKey: Redacted.make("sk-1"),
  appId: "app-1"
}

/** Calls the adapter of the model, whose vendor gives the answer. */
const makeReader = Effect.gen(function* () {
  let reply: Said | null = null
  const wire = wireTo(() => Effect.succeed({ ...reply, body: Buffer.from(reply?.body ?? "") }))
  const { video, image, text } = yield* ProtocolAdapter.pipe(
    Effect.provide(layerAdapters.pipe(Layer.provide(Layer.succeed(VendorWire, wire))))
  )
  return Effect.fnUntraced(function* ({ model, kind, isStreamed, answer }: Case) {
    reply = answer
    const way = ways.find((one) => one.model === model)
    const other = otherModels.find((one) => one.model === model)
    const protocol = other?.protocol ?? way?.mounted ?? way?.listed ?? "openai"
    const upstreamModel = other?.upstream ?? way?.upstream ?? "m"
    const messages = [{ role: "user", content: "hi" }] as const
    const chat = { model, messages, stream: isStreamed }
    const media = { upstreamModel, body: { model, prompt: "x" } }
    const imageCall = () =>
      isStreamed
        ? image.get(protocol)?.stream?.(account, media, () => Effect.succeed(true))
        : image.get(protocol)?.generate(account, media)
    const chatCall = () =>
      isStreamed
        ? text.get(protocol)?.stream(account, { upstreamModel, body: chat }, () => Effect.void)
        : text.get(protocol)?.complete(account, { upstreamModel, body: chat })
    const listedProtocol = other?.protocol ?? way?.listed ?? ""
    const calls = {
      video: () =>
        video
          .get(protocol)
          ?.submit(account, orderOf({ upstreamModel, listedProtocol, ...shapeOf(model) })),
      image: imageCall,
      chat: chatCall,
      embedding: () =>
        text.get(protocol)?.embed(account, { upstreamModel, body: { model, input: "hi" } })
    }
    const call = calls[kind]()
    assert.isDefined(call, `${protocol} has no call for ${kind}`)
    return yield* Effect.result<unknown, VendorFailure, never>(call)
  })
})

/** What is wrong with how the answer to an order that was made is read. */
const faultOfMade = (failure: VendorFailure, jobId: string | null): string | null => {
  const doubt = doubtOf(failure)
  if (doubt === null) return "no orphan, though it was made"
  if (mayFailOver(failure)) return "a second vendor, though it was made"
  if (isAboutKey(failure)) return "a second key, though it was made"
  if (upstreamErrorOf(failure).unpaid) return "the client may order again, though it was made"
  return jobId === null || doubt.upstreamId === jobId ? null : `an orphan of ${doubt.upstreamId}`
}

const faultOfRefused = (failure: VendorFailure, follows: Said["follows"]): string | null => {
  if (doubtOf(failure) !== null) return "an orphan, though it was refused"
  if (follows === null) return null
  if (mayFailOver(failure) !== (follows !== "nothing")) return "the next mount is not called as due"
  if (isAboutKey(failure) !== (follows === "next key")) return "the next key is not called as due"
  const mayRetry = upstreamErrorOf(failure).unpaid
  return follows === "nothing" && !mayRetry ? "the client may not order again" : null
}

const faultOf = ({ answer }: Case, failure: VendorFailure | null): string | null => {
  if (failure === null) return answer.isMade ? null : "read as a success"
  return answer.isMade
    ? faultOfMade(failure, answer.jobId)
    : faultOfRefused(failure, answer.follows)
}

const endOf = ({ answer }: Case): string =>
  answer.isMade ? "made" : (answer.follows ?? "by status")

describe("an answer that may be a refusal", () => {
  it.effect(
    `proves that nothing was made by the vendor's document alone (PROPERTY_SEED=${SEED})`,
    () =>
      Effect.gen(function* () {
        const drawn = Array.from({ length: CASES }, (_, index) => drawCase(SEED + index))
        const ends: Array<string> = []
        const faults: Array<string> = []
        const read = yield* makeReader
        for (const one of [...namedCases, ...drawn]) {
          const result = yield* read(one)
          const fault = faultOf(one, Result.isFailure(result) ? result.failure : null)
          if (fault !== null) faults.push(`${fault}: ${told(one)}`)
          ends.push(endOf(one))
        }
        assert.deepStrictEqual(faults.slice(0, 8), [], `${faults.length} of ${CASES}`)
        if (CASES < 100) return
        const rare = ["made", "nothing", "next mount", "next key"].filter(
          (end) => ends.filter((one) => one === end).length < CASES / 50
        )
        assert.deepStrictEqual(rare, [], "hardly occurs")
      }),
    60_000 + CASES * 10
  )
})

// The whole gateway between a client and two channels with two keys each

/** Each order has a model and channels of its own, so that no rest of one is another's. */
const LANES = Math.min(300, Math.max(1, Math.floor(CASES / 50)))
const laneCases = [
  ...namedCases.filter(({ model }) => model === "paint-a"),
  ...Array.from({ length: LANES }, (_, index) => drawCase(SEED + index))
]

const catalogAt = (url: string): typeof CatalogWrite.Encoded => {
  const media = protocolCatalog(url)
  const vector = { kind: "tokens", per_million_input: "0.5" } as const
  const paint = { kind: "image", per_image: "0.17" } as const
  const film = { kind: "second_video", per_second: { "720p": "0.6", "768p": "0.6" } } as const
  const texts = { talk: TALK_PRICES, vector }
  const sides = ["first", "second"] as const
  const modelOf = ({ model }: Case) => {
    const other = otherModels.find((one) => one.model === model)
    if (other !== undefined) {
      const { modality, protocol } = other
      return { modality, protocol, prices: modality === "video" ? film : paint }
    }
    if (model !== "talk" && model !== "vector") {
      return media.models.find(({ id }) => id === model) ?? assert.fail(model)
    }
    const modality = model === "talk" ? "chat" : "embedding"
    return { modality, protocol: "openai", prices: texts[model] } as const
  }
  return {
    channels: laneCases.flatMap(({ model }, lane) => {
      const mount = media.mounts.find((one) => one.model === model)
      const app_id = media.channels.find(({ id }) => id === mount?.channel)?.app_id ?? null
      return sides.map((side) => ({
        id: `lane${lane}-${side}`,
        name: side,
        base_url: `${url}/lane${lane}/${side}/v1`,
        app_id,
        api_keys: ["one", "two"].map((name) => ({
          name,
          api_key: `sk-${side}-${name}`,
          enabled: true
        }))
      }))
    }),
    models: laneCases.map((one, lane) => ({ ...modelOf(one), id: `lane${lane}` })),
    mounts: laneCases.flatMap(({ model }, lane) => {
      const mount = media.mounts.find((one) => one.model === model)
      const other = otherModels.find((one) => one.model === model)
      return sides.map((side, priority) => ({
        model: `lane${lane}`,
        channel: `lane${lane}-${side}`,
        protocol: mount?.protocol ?? null,
        upstream_model: other?.upstream ?? mount?.upstream_model ?? "m",
        priority
      }))
    })
  }
}

const paths = {
  image: "/v1/images/generations",
  video: "/v1/videos/generations",
  chat: "/v1/chat/completions",
  embedding: "/v1/embeddings"
} as const

const orderBody = ({ model, kind, isStreamed }: Case, lane: number): object => {
  const name = { model: `lane${lane}`, ...(isStreamed ? { stream: true } : {}) }
  if (kind === "chat") return { ...name, messages: [{ role: "user", content: "hello" }] }
  if (kind === "embedding") return { ...name, input: "hello" }
  const length = kind === "video" ? { duration: shapeOf(model).seconds } : {}
  return { ...name, prompt: "a lighthouse", ...length, ...leastInput(model) }
}

const mark: Mark = { text: "QzRefusals", digits: "7123456789" }

/** Delivers what was ordered, whole. */
const delivery = ({ model, kind }: Case): Reply => {
  const order: Plan = {
    model,
    kind,
    streamed: false,
    n: 1,
    repeated: false,
    answer: plain,
    polls: [plain, plain]
  }
  return { body: productOf(plain, mark, order) }
}

const Orphans = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({ id: Schema.String, upstream_id: Schema.NullOr(Schema.String) })
  )
})

type Demand = (holds: boolean, rule: string) => void

/** An order and its repeat, each with its answer. */
interface Sent {
  readonly answer: Said
  readonly first: HttpAnswer
  readonly repeat: HttpAnswer
  /** The side and key of every call that the order caused. */
  readonly seen: ReadonlyArray<string>
  readonly orphans: (typeof Orphans.Type)["data"]
}

const judgeMade = ({ answer, first, repeat, seen, orphans }: Sent, demand: Demand): void => {
  const { jobId } = answer
  demand(first.status >= 400, "a success though the answer was none")
  demand(seen.length === 1, "a second order though the first was made")
  demand(first.headers.get("x-should-retry") === "false", "the client may order again")
  demand(orphans.length === 1, "no orphan")
  demand(jobId === null || orphans[0]?.upstream_id === jobId, "an orphan without its id")
  const isReplayed = repeat.headers.get("idempotency-replayed") === "true"
  demand(isReplayed, "the key stands for nothing")
}

const judgeRefused = ({ answer, first, seen, orphans }: Sent, demand: Demand): void => {
  const { follows } = answer
  demand(orphans.length === 0, "an orphan though it was refused")
  if (follows === null) return
  demand(seen.length === (follows === "nothing" ? 1 : 2), "not as many orders as due")
  demand((first.status === 200) === (follows !== "nothing"), "not made by the next one")
  const [before = "", after = ""] = seen
  const isSameChannel = before.split(" ")[0] === after.split(" ")[0]
  demand(follows === "nothing" || isSameChannel === (follows === "next key"), "elsewhere")
}

layer(layerTestGateway("postgres", { ...quickSettings, breakerCalls: 1_000_000 }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("the gateway between two channels of two keys", (it) => {
  it.effect(
    `calls no second one where the first may have made it (PROPERTY_SEED=${SEED})`,
    () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const orders = laneCases.map((): Array<string> => [])
        const { url } = yield* brokenVendor(
          ({ method, target, headers }: ReceivedRequest): Reply => {
            const [, number, side] = /^\/lane(\d+)\/(\w+)\//.exec(target) ?? []
            const lane = Number(number)
            const [one, seen] = [laneCases[lane], orders[lane]]
            if (method !== "POST" || one === undefined || seen === undefined) return { status: 404 }
            seen.push(`${side} ${headers.authorization}`)
            return seen.length === 1 ? one.answer : delivery(one)
          }
        )
        const loaded = yield* gateway.admin("/catalog", { method: "PUT", json: catalogAt(url) })
        assert.strictEqual(loaded.status, 200, loaded.text)
        const faults: Array<string> = []
        const run = Effect.fnUntraced(function* (one: Case, lane: number) {
          const who = yield* gateway.customer("100")
          const options = {
            key: who.key,
            json: orderBody(one, lane),
            headers: { "idempotency-key": randomUUID() }
          }
          const first = yield* gateway.call(paths[one.kind], options)
          const seen = [...(orders[lane] ?? [])]
          const { data } = yield* bodyAs(
            Orphans,
            yield* gateway.admin(`/orphans?organization_id=${who.organizationId}&limit=100`)
          )
          const repeat = yield* gateway.call(paths[one.kind], options)
          const demand: Demand = (holds, rule) => {
            if (holds) return
            faults.push(`${rule}: ${told(one)}; ${first.status} ${first.text}; ${seen.join(", ")}`)
          }
          const sent = { answer: one.answer, first, repeat, seen, orphans: data }
          if (one.answer.isMade) {
            judgeMade(sent, demand)
            demand(orders[lane]?.length === 1, "the repeat of the key orders again")
          } else judgeRefused(sent, demand)
          if (!one.answer.isMade && one.answer.follows === null) return
          const { held } = yield* gateway.balance(who)
          demand(held === "0" || (one.kind === "video" && first.status === 200), "held for ever")
        })
        yield* Effect.forEach(laneCases, run, { concurrency: 4, discard: true })
        assert.deepStrictEqual(faults.slice(0, 8), [], `${faults.length} of ${laneCases.length}`)
      }),
    120_000 + LANES * 1000
  )
})
