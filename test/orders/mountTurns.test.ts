import { assert, it } from "@effect/vitest"
import { Effect, Random } from "effect"
import { drawMounts } from "../../src/orders/mountTurns.ts"

const mount = (name: string, priority: number, weight: number) => ({ name, priority, weight })

/** How often each mount comes first, and each at every place. */
const drawMany = Effect.fnUntraced(function* (
  mounts: readonly [ReturnType<typeof mount>, ...ReadonlyArray<ReturnType<typeof mount>>],
  times: number
) {
  const orders: Array<ReadonlyArray<string>> = []
  for (let drawing = 0; drawing < times; drawing++) {
    orders.push((yield* drawMounts(mounts)).map(({ name }) => name))
  }
  const share = (name: string, place: number) =>
    orders.filter((order) => order[place] === name).length / times
  return { orders, share }
}, Random.withSeed("mounts"))

it.effect("a lower priority comes first whatever the weights, and weights share among equals", () =>
  Effect.gen(function* () {
    const { orders, share } = yield* drawMany(
      [mount("late", 2, 1000), mount("a", 1, 3), mount("b", 1, 1), mount("spare", 1, 0)],
      4000
    )
    assert.isTrue(orders.every((order) => order[3] === "late" && order[2] === "spare"))
    assert.approximately(share("a", 0), 0.75, 0.03)
    assert.approximately(share("b", 0), 0.25, 0.03)
  })
)

it.effect("what is left shares by its weights too", () =>
  Effect.gen(function* () {
    const { share } = yield* drawMany([mount("a", 0, 2), mount("b", 0, 1), mount("c", 0, 1)], 4000)
    assert.approximately(share("a", 0), 0.5, 0.03)
    // After b or c the others are a and one of weight 1.
    assert.approximately(share("a", 1), 0.5 * (2 / 3), 0.03)
  })
)
