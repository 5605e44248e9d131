import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { databasesInTurn } from "../support/databases.ts"
import { seedOfDay } from "../support/day.ts"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { diceOf } from "../support/randomOrders.ts"
import { talk, textCatalog } from "../support/textCatalog.ts"

/** `DISCONNECTS=300` is the long form; the seed repeats the moments. */
const CLIENTS = Number(process.env.DISCONNECTS ?? 60)
const SEED = Number(process.env.DISCONNECTS_SEED ?? seedOfDay)
const video = { model: "film-1", prompt: "a lighthouse sim:slow=0" }
const image = { model: "paint-1", prompt: "a lighthouse" }
const text = talk("a lighthouse")
/** 6 tokens in at 2 a million and 23 out at 8, as the simulated vendor counts them. */
const TEXT_PRICE = "0.000196"

/** The latest moment of going away; most answers have come by then. */
const LONGEST_MILLIS = 60

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor: textCatalog() }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`clients that go away (${kind})`, (it) => {
    it.effect.each([
      ["videos", "videos/generations", video, "5.0094"],
      ["images", "images/generations", image, "0.2"],
      ["texts", "chat/completions", text, TEXT_PRICE],
      ["streams", "chat/completions", { ...text, stream: true }, TEXT_PRICE]
    ] as const)("%s are charged exactly when the vendor made them", ([, path, json, price]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("10000")
        const dice = diceOf(SEED)
        const before = (yield* gateway.simulator.book).length
        yield* Effect.forEach(
          Array.from({ length: CLIENTS }, () => dice.roll(LONGEST_MILLIS)),
          (millis) =>
            gateway.call(`/v1/${path}`, { key: who.key, json }).pipe(Effect.timeoutOption(millis)),
          { concurrency: 8 }
        )
        const books = Effect.gen(function* () {
          const { held, balance } = yield* gateway.balance(who)
          const booked = (yield* gateway.simulator.book).slice(before)
          const jobs = booked.filter((entry) => entry.event === "accepted").length
          return { held, jobs, charged: Math.round((10_000 - Number(balance)) * 1e6) }
        })
        const owed = (jobs: number) => Math.round(jobs * Number(price) * 1e6)
        // An order whose client has gone may be held, and its job begun, only after a look at the books.
        const { jobs } = yield* books.pipe(
          Effect.delay("20 millis"),
          Effect.repeat({
            until: ({ held, jobs, charged }) => held === "0" && charged === owed(jobs)
          }),
          Effect.timeout("30 seconds")
        )
        assert.isAbove(jobs, 0)
        yield* gateway.verify
      })
    )
  })
}
