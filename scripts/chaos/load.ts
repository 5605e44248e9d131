/** Clients that place orders, wait, disconnect, return and repeat their requests. */
import { Clock, Effect, Random, Schema } from "effect"
import type { HttpClient } from "effect/http"
import { cancelTask, followTask } from "./follow.ts"
import type { Gateway } from "./gateways.ts"
import { type Answer, bodyOf, send } from "./http.ts"
import { type Behaviour, changed, dutyOf, type Focus, makePlan } from "./orders.ts"
import type { Customer, Order, Outcome, Witness } from "./witness.ts"

const readTask = bodyOf(Schema.Struct({ id: Schema.String, task_status: Schema.String }))
const readText = bodyOf(Schema.Struct({ choices: Schema.Array(Schema.Unknown) }))
const readImages = bodyOf(Schema.Struct({ data: Schema.Array(Schema.Unknown) }))
const readError = bodyOf(Schema.Struct({ error: Schema.Struct({ code: Schema.String }) }))

const MAX_ATTEMPTS = 6

/** Whether the response has the images or the whole text, of which a stream has an end. */
const isProduct = ({ kind }: Order, answer: Answer): boolean =>
  kind === "image"
    ? readImages(answer) !== null
    : readText(answer) !== null || answer.text.trimEnd().endsWith("data: [DONE]")

const paths = {
  video: "videos/generations",
  image: "images/generations",
  text: "chat/completions"
} as const

export const pathOf = ({ kind }: Order): string => paths[kind]

/** The outcome of a response. A response that does not come from a gateway counts as lost. */
export const outcomeOf = (order: Order, answer: Answer): Outcome => {
  const { status, text } = answer
  if (status < 200 || status >= 300) {
    const code = readError(answer)?.error.code
    return code === undefined ? { _tag: "Lost" } : { _tag: "Refused", status, code }
  }
  const replayed = answer.headers["idempotency-replayed"] === "true"
  if (order.kind === "text" || (order.kind === "image" && !order.isLater)) {
    return isProduct(order, answer)
      ? { _tag: "Accepted", taskId: null, replayed, text }
      : { _tag: "Lost" }
  }
  const task = readTask(answer)
  return task === null ? { _tag: "Lost" } : { _tag: "Accepted", taskId: task.id, replayed, text }
}

/** Whether a client with an idempotency key would retry after this outcome. */
const undecided = (outcome: Outcome): boolean =>
  outcome._tag === "Lost" ||
  outcome._tag === "HungUp" ||
  (outcome._tag === "Refused" && (outcome.status >= 500 || outcome.status === 409))

/** A random gateway among those that listen; waits while no gateway listens. */
export const anyGateway = Effect.fnUntraced(function* (gateways: ReadonlyArray<Gateway>) {
  const serving = gateways.flatMap((gateway) => {
    const url = gateway.urlNow()
    return url === null ? [] : [{ name: gateway.name, url }]
  })
  if (serving.length > 0) return yield* Effect.orDie(Random.choice(serving))
  return yield* Effect.raceAllFirst(
    gateways.map(({ name, url }) => Effect.map(url, (url) => ({ name, url })))
  )
})

/** A client whose choices depend only on the random generator of the fiber that runs it. */
const makeClient = (witness: Witness, gateways: ReadonlyArray<Gateway>) => {
  const attempt = Effect.fnUntraced(function* (order: Order, hangUpAfterMillis: number | null) {
    const gateway = yield* anyGateway(gateways)
    const startedAt = yield* Clock.currentTimeMillis
    const answered = send(`${gateway.url}/v1/${pathOf(order)}`, {
      key: order.customer.key,
      json: order.json,
      headers: {
        ...(order.idempotencyKey === null ? {} : { "idempotency-key": order.idempotencyKey }),
        ...(order.isLater ? { prefer: "respond-async" } : {})
      }
    }).pipe(
      Effect.map((answer) => outcomeOf(order, answer)),
      Effect.catchTag("ConnectionLost", () => Effect.succeed<Outcome>({ _tag: "Lost" }))
    )
    const outcome =
      hangUpAfterMillis === null
        ? yield* answered
        : yield* Effect.timeoutOrElse(answered, {
            duration: `${hangUpAfterMillis} millis`,
            orElse: () => Effect.succeed<Outcome>({ _tag: "HungUp" })
          })
    const endedAt = yield* Clock.currentTimeMillis
    witness.attempts.push({ order, gateway: gateway.name, startedAt, endedAt, outcome })
    return outcome
  })

  const repeat = Effect.fnUntraced(function* (order: Order) {
    let outcome = yield* attempt(order, null)
    for (let sent = 1; sent < MAX_ATTEMPTS && undecided(outcome); sent++) {
      yield* Effect.sleep(`${yield* Random.nextIntBetween(100, 900)} millis`)
      outcome = yield* attempt(order, null)
    }
    return outcome
  })

  const behave = Effect.fnUntraced(function* (order: Order, behaviour: Behaviour) {
    switch (behaviour._tag) {
      case "Once":
        return yield* attempt(order, null)
      case "HangsUp":
        return yield* attempt(order, behaviour.afterMillis)
      case "Repeats":
        return yield* repeat(order)
      case "HangsUpAndRepeats":
        yield* attempt(order, behaviour.afterMillis)
        return yield* repeat(order)
      case "Bursts": {
        const outcomes = yield* Effect.all(
          Array.from({ length: behaviour.size }, () => attempt(order, null)),
          { concurrency: "unbounded" }
        )
        const accepted = outcomes.find(({ _tag }) => _tag === "Accepted")
        return accepted ?? (yield* repeat(order))
      }
      case "Changes": {
        const outcome = yield* repeat(order)
        const other = changed(order)
        witness.orders.set(other.promptDigest, other)
        yield* attempt(other, null)
        return outcome
      }
    }
  })

  return { behave }
}

/** Places orders one after the other until `isOver`, and then still completes the last order. */
export const runClient = Effect.fnUntraced(function* (
  witness: Witness,
  gateways: ReadonlyArray<Gateway>,
  options: {
    readonly seed: string
    /** Begins the ids of its orders. */
    readonly name: string
    readonly index: number
    readonly customer: Customer
    /** What all its orders are about; null for one duty after the other. */
    readonly focus: Focus | null
    readonly isOver: () => boolean
  }
): Effect.fn.Return<void, never, HttpClient.HttpClient> {
  const client = makeClient(witness, gateways)
  for (let number = 0; !options.isOver(); number++) {
    const id = `${options.name}-${number}`
    // Each order has its own random generator, so that the duration of one order does not change
    // the next.
    yield* Effect.gen(function* () {
      const { customer } = options
      const plan = yield* makePlan({
        customer,
        id,
        canary: witness.canary,
        duty: options.focus === null ? dutyOf(options.index, number) : null,
        focus: options.focus
      })
      const { order, behaviour } = plan
      witness.orders.set(order.promptDigest, order)
      yield* Effect.sleep(`${plan.thinkMillis} millis`)
      const outcome = yield* client.behave(order, behaviour)
      if (outcome._tag === "Accepted" && outcome.taskId !== null) {
        const task = { order, taskId: outcome.taskId }
        const gateway = anyGateway(gateways)
        yield* Effect.all(
          [
            followTask(witness, gateway, task, plan.polls),
            ...plan.cancels.map((afterMillis) =>
              Effect.delay(cancelTask(witness, gateway, task), `${afterMillis} millis`)
            )
          ],
          { concurrency: "unbounded", discard: true }
        )
      }
    }).pipe(Random.withSeed(`${options.seed} client ${id}`))
  }
})
