import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { TestClock } from "effect/testing"
import { makePollQueue } from "../../src/polling/PollQueue.ts"
import type { PollRequest } from "../../src/polling/VideoPolls.ts"
import type { ClaimedTask } from "../../src/services/TaskRepo.ts"

const task: ClaimedTask = {
  organizationId: "org_1",
  id: "vt_1",
  model: "clip-1",
  channelId: "ch-1",
  protocol: "vp_d",
  listedProtocol: "vp_d",
  upstreamModel: "k-3",
  upstreamId: "901",
  accountVersion: 1,
  isMarked: false,
  keyName: "default",
  ageSeconds: 1,
  sincePollSeconds: 1,
  lease: 7n,
  unknownForSeconds: null,
  pastDeadline: false,
  cost: null,
  billUnitPriceNano: null,
  quote: {
    kind: "second_video",
    resolution: "720p",
    outputSeconds: 5,
    nanoPerSecond: 1n,
    holdNano: 5n
  }
}

/** A queue in front of a vendor that answers when it is told to. */
const makeWorld = Effect.fnUntraced(function* (bound: number) {
  const open: Array<{ readonly id: string; readonly answer: Deferred.Deferred<void> }> = []
  const queue = yield* makePollQueue({ limit: bound, staleMillis: 5000 })
  let minted = 0
  const offer = (count: number, channelId = "ch-1") => {
    for (let index = 0; index < count; index++) {
      const id = `${minted++}`
      const answer = Deferred.makeUnsafe<void>()
      const question: PollRequest = {
        channelId,
        tasks: [{ ...task, id, channelId }],
        send: Effect.suspend(() => {
          open.push({ id, answer })
          return Effect.as(Deferred.await(answer), { settle: Effect.void })
        })
      }
      queue.offer(question)
    }
    return Effect.yieldNow
  }
  const answer = Effect.fnUntraced(function* (count: number) {
    for (const one of open.splice(0, count)) {
      yield* Deferred.succeed(one.answer, undefined)
      yield* TestClock.adjust(0)
    }
  })
  return { queue, open: () => open.map(({ id }) => id), offer, answer }
})

describe("the questions of a channel", () => {
  it.effect("are open up to the bound, and the next begins with each answer, in order", () =>
    Effect.gen(function* () {
      const { offer, open, answer, queue } = yield* makeWorld(2)
      yield* offer(4)
      yield* offer(1, "ch-2")
      assert.deepStrictEqual(open(), ["0", "1", "4"])
      assert.isTrue(queue.isFull("ch-1"))
      assert.isFalse(queue.isFull("ch-2"))
      yield* answer(1)
      assert.deepStrictEqual(open(), ["1", "4", "2"])
      yield* answer(3)
      assert.deepStrictEqual(open(), ["3"])
      yield* answer(1)
      assert.deepStrictEqual(
        [...queue.openCounts()].filter(([, count]) => count > 0),
        []
      )
    })
  )

  it.effect("are claimed ahead as quickly as the vendor answers, and not where it does not", () =>
    Effect.gen(function* () {
      const { offer, answer, queue } = yield* makeWorld(4)
      assert.deepStrictEqual([...queue.openCounts()], [])
      yield* offer(4)
      assert.deepStrictEqual([...queue.openCounts()], [["ch-1", 4]])
      yield* answer(4)
      yield* offer(4)
      yield* TestClock.adjust("100 millis")
      // Four answers in 100 ms are eight in 200.
      assert.deepStrictEqual([...queue.openCounts()], [["ch-1", 4 - 8]])
      yield* offer(8)
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual([...queue.openCounts()], [["ch-1", 12]])
    })
  )

  it.effect("make room again once nobody waits for a place", () =>
    Effect.gen(function* () {
      const { offer, answer, queue } = yield* makeWorld(4)
      /** How often there was room until now. */
      let rooms = 0
      const roomsAfter = Effect.fnUntraced(function* (count: number) {
        yield* answer(count)
        return rooms
      })
      yield* Effect.forkChild(
        Effect.forever(
          Effect.andThen(
            queue.room,
            Effect.andThen(
              Effect.sync(() => rooms++),
              queue.resetRoom
            )
          )
        )
      )
      yield* offer(6)
      assert.strictEqual(yield* roomsAfter(3), 0)
      assert.strictEqual(yield* roomsAfter(1), 1)
      // Of a vendor as quick as that, the next ones are claimed while the last ones are asked for.
      queue.openCounts()
      yield* offer(6)
      assert.strictEqual(yield* roomsAfter(3), 1)
      assert.strictEqual(yield* roomsAfter(1), 2)
    })
  )

  it.effect("that waited so long that their claim may be over are not asked any more", () =>
    Effect.gen(function* () {
      const { offer, open, answer } = yield* makeWorld(1)
      yield* offer(3)
      yield* TestClock.adjust("4 seconds")
      yield* offer(1)
      yield* TestClock.adjust("2 seconds")
      yield* answer(1)
      assert.deepStrictEqual(open(), ["3"])
    })
  )

  it.effect("begin again only when those beyond the bound have ended", () =>
    Effect.gen(function* () {
      const { queue, offer, open, answer } = yield* makeWorld(1)
      yield* offer(2)
      const reader: PollRequest = {
        channelId: "ch-1",
        tasks: [task],
        send: Effect.as(Effect.sleep(100), { settle: Effect.void })
      }
      yield* Effect.forkChild(queue.send(reader))
      yield* answer(1)
      assert.deepStrictEqual(open(), [])
      yield* TestClock.adjust(100)
      assert.deepStrictEqual(open(), ["1"])
    })
  )

  it.effect("that waited too long are taken back, the others keep their turn", () =>
    Effect.gen(function* () {
      const { offer, open, answer, queue } = yield* makeWorld(1)
      yield* offer(2)
      yield* TestClock.adjust("800 millis")
      yield* offer(1)
      yield* TestClock.adjust("300 millis")
      const late = queue.removeLate(1000).map(({ task }) => task.id)
      assert.deepStrictEqual(late, ["1"])
      assert.deepStrictEqual(queue.removeLate(1000), [])
      yield* answer(1)
      assert.deepStrictEqual(open(), ["2"])
    })
  )
})
