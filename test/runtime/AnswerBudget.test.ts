import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeAnswerBudget } from "../../src/runtime/AnswerBudget.ts"

it.effect("an owner has room until it has its half, and others have theirs", () =>
  Effect.gen(function* () {
    const budget = yield* makeAnswerBudget(1000)
    const [one, other] = [budget.open("a"), budget.open("b")]
    one.grow(499)
    assert.isTrue(one.hasRoom())
    one.grow(1)
    assert.isFalse(one.hasRoom())
    assert.isFalse(budget.open("a").hasRoom())
    assert.isTrue(other.hasRoom())
    other.grow(500)
    // All of it is taken, and who has little of it may begin all the same.
    assert.isTrue(budget.open("c").hasRoom())
    one.close()
    assert.isTrue(budget.open("a").hasRoom())
    other.close()
    assert.strictEqual(budget.bytes(), 0)
  })
)

it.effect(
  "what counts goes along to another owner, and ends with the request whatever comes later",
  () =>
    Effect.gen(function* () {
      const budget = yield* makeAnswerBudget(1000)
      const answer = budget.open("address")
      answer.grow(500)
      answer.assign("a")
      assert.isTrue(budget.open("address").hasRoom())
      assert.isFalse(budget.open("a").hasRoom())
      answer.shrink(100)
      assert.strictEqual(budget.bytes(), 400)
      answer.close()
      answer.grow(50)
      answer.close()
      assert.strictEqual(budget.bytes(), 0)
    })
)

it.effect("a large answer waits for room of its owner, and one that is alone waits for none", () =>
  Effect.gen(function* () {
    const budget = yield* makeAnswerBudget(1000)
    const begun: Array<string> = []
    const open = (owner: string, bytes: number, name: string) =>
      budget.open(owner).reserve(bytes, () => begun.push(name))
    const huge = open("a", 5000, "huge")
    const next = open("a", 100, "next")
    assert.isTrue(next.isWaiting())
    assert.isTrue(budget.open("a").isPressed())
    huge.release()
    huge.release()
    // Room that was released is admitted once the fibers of this turn have run.
    yield* Effect.yieldNow
    assert.deepStrictEqual(begun, ["huge", "next"])
    assert.isFalse(budget.open("a").isPressed())
    next.growTo(300)
    assert.strictEqual(budget.bytes(), 300)
    next.release()
    assert.strictEqual(budget.bytes(), 0)
  })
)

it.effect("of those who wait, the owner that has least is first", () =>
  Effect.gen(function* () {
    const budget = yield* makeAnswerBudget(1000)
    const begun: Array<string> = []
    const reserve = (owner: string, bytes: number, name: string) =>
      budget.open(owner).reserve(bytes, () => begun.push(name))
    const [a1, b1] = [reserve("a", 450, "a1"), reserve("b", 450, "b1")]
    const waiting = [reserve("a", 200, "a2"), reserve("a", 200, "a3"), reserve("c", 200, "c1")]
    const given = reserve("c", 300, "c2")
    assert.strictEqual(budget.waiting(), 4)
    given.release()
    a1.release()
    yield* Effect.yieldNow
    assert.deepStrictEqual(begun, ["a1", "b1", "a2", "c1"])
    b1.release()
    for (const one of waiting) one.release()
    assert.strictEqual(budget.bytes(), 0)
    assert.strictEqual(budget.waiting(), 0)
  })
)

it.effect("whoever asks at the end of a request is called at its end", () =>
  Effect.gen(function* () {
    const answer = (yield* makeAnswerBudget(1000)).open("a")
    const called: Array<number> = []
    answer.onClose(() => called.push(1))
    answer.close()
    answer.onClose(() => called.push(2))
    assert.deepStrictEqual(called, [1, 2])
  })
)
