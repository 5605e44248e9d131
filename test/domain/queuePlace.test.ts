import { assert, it } from "@effect/vitest"
import { positionOf } from "../../src/domain/queuePlace.ts"

const organizations = (count: number, waiting: number) =>
  Array.from({ length: count }, (_, index) => ({ organizationId: `o${index}`, waiting }))

const lastOf = (organizationId: string, rank: number) => ({ organizationId, rank })

it("an organisation with many places has its turn when others have as many", () => {
  const queue = {
    organizations: [...organizations(2, 9)],
    places: Array.from({ length: 10 }, () => "o0")
  }
  const positions = [1, 2, 3].map((rank) => positionOf(queue, 10, lastOf("o0", rank)))
  assert.deepStrictEqual(positions, [6, 7, 8])
})

it("far behind in a crowd of organisations the position is that of rounds", () => {
  const crowd = { organizations: organizations(500, 100), places: ["o0"] }
  assert.strictEqual(positionOf(crowd, 1, lastOf("o499", 1)), 500)
  assert.strictEqual(positionOf(crowd, 1, lastOf("o499", 100)), 50_000)
  assert.strictEqual(positionOf(crowd, 1, lastOf("o7", 1)), 8)
})
