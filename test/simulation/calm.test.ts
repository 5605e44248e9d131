/** The rules of what goes on by itself: sound records pass, and broken ones are seen. */
import { assert, describe, it } from "@effect/vitest"
import type { Books, Hold, Task } from "../../scripts/chaos/books.ts"
import { keptDigest } from "../../scripts/chaos/judges/orders.ts"
import { judgeKeyedRefunds } from "../../scripts/chaos/judges/refunds.ts"
import { makeWitness, type Order } from "../../scripts/chaos/witness.ts"
import {
  judgeOrders,
  judgePolls,
  judgeQueue,
  judgeRecovery,
  judgeStatements,
  judgeWaits
} from "../../scripts/simulation/calm.ts"
import { clip, imageHold, jobOf, paint, sound, task, videoHold } from "../support/chaosBooks.ts"

const START_MILLIS = Date.parse("2026-01-01T00:00:00Z")
const at = (seconds: number) => START_MILLIS + 1000 * seconds
const dateAt = (seconds: number) => new Date(at(seconds))

const prompt_digest = keptDigest(clip.promptDigest)

const witnessOf = (...orders: ReadonlyArray<Order>) => {
  const witness = makeWitness("canary")
  for (const order of orders) witness.orders.set(order.promptDigest, order)
  return witness
}

describe("polls", () => {
  const late: Task = { ...task, finished_at: dateAt(15) }
  const violations = (times: ReadonlyArray<number>, calm: number) => {
    const polls = [{ protocol: "vp_d", upstream_id: "job-v", polled_at: times.map(at) }]
    return judgePolls({ ...sound, tasks: [late] }, polls, [at(calm)]).violations
  }

  it("go on", () => {
    assert.deepStrictEqual(violations([4, 9, 13], 2), [])
  })

  it("may stop during faults", () => {
    assert.deepStrictEqual(violations([2, 13], 12), [])
  })

  it("count from the hold where the vendor answers a job from before", () => {
    const hold = { ...videoHold, created_at: dateAt(12) }
    const books = { ...sound, holds: [hold], tasks: [late] }
    assert.deepStrictEqual(judgePolls(books, [], [at(2)]).violations, [])
  })

  it("are of videos; images of a dead gateway wait for their deadline", () => {
    const image = { ...late, id: "im_1" }
    const books = { ...sound, holds: [{ ...videoHold, id: image.id }], tasks: [image] }
    assert.deepStrictEqual(judgePolls(books, [], [at(2)]).violations, [])
  })

  it("see a video that is not polled any more", () => {
    assert.deepStrictEqual(violations([3], 4), ["vt_1 was not polled for 11000 ms: job job-v"])
    assert.deepStrictEqual(violations([3, 4], 2), ["vt_1 was not polled for 11000 ms: job job-v"])
  })
})

describe("places", () => {
  const waiting: Order = { ...clip, maxWait: 20 }
  const hold: Hold = { ...videoHold, prompt_digest, created_at: dateAt(0), closed_at: dateAt(20) }
  const unplaced: Task = {
    ...task,
    state: "failed",
    error_code: "max_wait_exceeded",
    upstream_id: null,
    accepted_at: null,
    finished_at: dateAt(20)
  }
  /** Other tasks, whose vendor has made them soon, and which are closed later. */
  const busy = (count: number): Pick<Books, "tasks" | "holds" | "jobs"> => {
    const orders = Array.from({ length: count }, (_, index): Order => {
      const promptDigest = `${index}`.padEnd(64, "f")
      return { ...clip, promptDigest }
    })
    return {
      tasks: orders.map((_, index) => ({ ...task, id: `vt_b${index}`, upstream_id: `b${index}` })),
      holds: orders.map(({ promptDigest }, index) => ({
        ...videoHold,
        id: `vt_b${index}`,
        prompt_digest: keptDigest(promptDigest),
        closed_at: dateAt(30)
      })),
      jobs: orders.map((order, index) => jobOf(order, `b${index}`))
    }
  }
  const violations = (
    others: number,
    calm: number,
    unheld: Parameters<typeof judgeWaits>[3] = []
  ) => {
    const { tasks, holds, jobs } = busy(others)
    const books = { ...sound, tasks: [unplaced, ...tasks], holds: [hold, ...holds], jobs }
    return judgeWaits(books, witnessOf(waiting), [at(calm)], unheld).violations
  }

  it("may all be taken", () => {
    assert.deepStrictEqual(violations(3, 2), [])
  })

  it("see an order that waits beside a free place", () => {
    assert.deepStrictEqual(violations(2, 2), ["vt_1 waited 18000 ms for nothing"])
  })

  describe("of orders whose vendor answers a job from before", () => {
    const repeated: Task = { ...task, id: "vt_2", upstream_id: "b0", accepted_at: dateAt(5) }
    const { tasks, holds, jobs } = busy(2)
    const violationsBeside = (closedAt: number) => {
      const repeatedHold = { ...videoHold, id: "vt_2", closed_at: dateAt(closedAt) }
      const books = {
        ...sound,
        tasks: [unplaced, repeated, ...tasks],
        holds: [hold, repeatedHold, ...holds],
        jobs
      }
      return judgeWaits(books, witnessOf(waiting), [at(5)], []).violations
    }

    it("are taken until the order is closed", () => {
      assert.deepStrictEqual(violationsBeside(15), [])
      assert.deepStrictEqual(violationsBeside(8), ["vt_1 waited 12000 ms for nothing"])
    })

    it("are waited for until the answer", () => {
      const answered = { ...repeated, id: "vt_1", accepted_at: dateAt(20) }
      const books = { ...sound, tasks: [answered, ...tasks], holds: [hold, ...holds], jobs }
      const violations = judgeWaits(books, witnessOf(waiting), [at(2)], []).violations
      assert.deepStrictEqual(violations, ["vt_1 waited 18000 ms for nothing"])
    })
  })

  it("are taken by an order whose gateway died before its hold, for a minute", () => {
    const placeAt = (seconds: number, channel_id: string) => [
      { order_id: "vt_dead", channel_id, taken_at: dateAt(seconds) }
    ]
    assert.deepStrictEqual(violations(2, 2, placeAt(0, "demo-vp_d")), [])
    const seen = ["vt_1 waited 18000 ms for nothing"]
    assert.deepStrictEqual(violations(2, 2, placeAt(-60, "demo-vp_d")), seen)
    assert.deepStrictEqual(violations(2, 2, placeAt(0, "demo-fal")), seen)
  })

  it("say nothing of a time with faults", () => {
    assert.deepStrictEqual(violations(2, 15), [])
  })
})

describe("an order that waits", () => {
  it("is in the queue, and seen where it is in none", () => {
    const judge = (is_queued: boolean) => judgeQueue([{ id: "vt_1", is_queued }])
    assert.deepStrictEqual(judge(true).violations, [])
    assert.deepStrictEqual(judge(false).violations, ["vt_1 is in no queue"])
  })
})

describe("a gateway that starts alone", () => {
  const violations = (closedAt: number, started: ReadonlyArray<number>) => {
    const hold = { ...imageHold, created_at: dateAt(1), closed_at: dateAt(closedAt) }
    return judgeRecovery({ ...sound, holds: [hold] }, started.map(at), [at(4)]).violations
  }

  it("ends what was open", () => {
    assert.deepStrictEqual(violations(4, [0, 3]), [])
    assert.deepStrictEqual(violations(9, [0]), [])
  })

  it("is seen where it does not", () => {
    assert.deepStrictEqual(violations(9, [0, 3]), ["im_1 was open for 5000 ms"])
  })
})

describe("orders", () => {
  const released: Hold = { ...videoHold, prompt_digest, state: "released", captured: 0n }
  const violations = (hold: Hold, order: Order, tasks: ReadonlyArray<Task> = [task]) =>
    judgeOrders({ ...sound, holds: [hold], tasks }, witnessOf(order)).violations

  it("are made, fail as their vendors are told, or are cancelled", () => {
    assert.deepStrictEqual(violations({ ...videoHold, prompt_digest }, clip), [])
    assert.deepStrictEqual(violations(released, { ...clip, prompt: "a video sim:fail" }), [])
    assert.deepStrictEqual(violations(released, { ...clip, maxWait: 3 }), [])
    assert.deepStrictEqual(violations(released, clip, [{ ...task, error_code: "cancelled" }]), [])
  })

  it("are seen where they fail for nothing", () => {
    assert.deepStrictEqual(violations(released, clip), ["vt_1 of order video is released"])
  })
})

describe("statements", () => {
  it("that failed are seen", () => {
    assert.deepStrictEqual(judgeStatements([]).violations, [])
    assert.deepStrictEqual(judgeStatements(["gateway-1 23505 INSERT"]).violations, [
      "gateway-1 23505 INSERT"
    ])
  })
})

describe("errors under a key", () => {
  const violations = (hold: Hold, order: Order) => {
    const witness = witnessOf(order)
    witness.attempts.push({
      order,
      gateway: "gateway-1",
      startedAt: 0,
      endedAt: 1,
      outcome: { _tag: "Refused", status: 504, code: "upstream_error" }
    })
    return judgeKeyedRefunds({ ...sound, holds: [hold] }, witness).violations
  }
  const keyed: Order = { ...paint, idempotencyKey: "k" }
  const hold: Hold = { ...imageHold, prompt_digest: keptDigest(paint.promptDigest) }

  it("are of orders that cost nothing", () => {
    assert.deepStrictEqual(violations({ ...hold, state: "released" }, keyed), [])
    assert.deepStrictEqual(violations(hold, paint), [])
  })

  it("are seen where the order is charged", () => {
    assert.deepStrictEqual(violations(hold, keyed), [
      "order image was answered 504, and is charged"
    ])
  })
})
