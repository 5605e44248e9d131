/** The table of task states, compared with what the stores let through and with what the SQL allows. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isFinal, TaskState, transitions } from "../../src/domain/taskStates.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { type TaskOutcome, TaskRepo } from "../../src/services/TaskRepo.ts"
import {
  jobId,
  layerLedgerOn,
  layerStoresOf,
  organization,
  storeKinds,
  usageOf
} from "../support/ledger.ts"
import { quote, upstream } from "../support/tasks.ts"

const failure = { errorCode: "c", errorMessage: "m" }

/** Every change of state that some call of the repository makes, by its kind of task. */
const changes = {
  video: {
    waiting: [{ from: "submitting", state: "waiting" }],
    submitting: [{ from: "waiting", state: "submitting" }],
    processing: [{ from: "submitting", state: "processing" }],
    succeeded: [{ from: "processing", state: "succeeded", videoUrl: "u", completionTokens: null }],
    failed: [
      { from: "processing", state: "failed", ...failure },
      { from: "submitting", state: "failed", ...failure },
      { from: "waiting", state: "failed", ...failure }
    ],
    rejected: [{ from: "submitting", state: "rejected", ...failure }]
  },
  image: {
    succeeded: [{ from: "submitting", state: "succeeded", result: {} }],
    failed: [{ from: "submitting", state: "failed", ...failure }],
    rejected: [{ from: "submitting", state: "rejected", ...failure }]
  }
} as const

type Kind = keyof typeof changes
type Change =
  | TaskOutcome
  | { readonly from: "submitting"; readonly state: "processing" }
  | { readonly from: "submitting"; readonly state: "waiting" }
  | { readonly from: "waiting"; readonly state: "submitting" }

const kinds = ["video", "image"] as const satisfies ReadonlyArray<Kind>
const changesOf = (kind: Kind): ReadonlyArray<Change> => Object.values(changes[kind]).flat()
const tableOf = (kind: Kind): Partial<Record<TaskState, ReadonlyArray<TaskState>>> =>
  transitions[kind]

/** The changes that lead a task of the kind from its hold to the state. */
const wayTo = (kind: Kind, state: TaskState): ReadonlyArray<Change> => {
  if (state === "submitting") return []
  const last = changesOf(kind).find((change) => change.state === state)
  return last === undefined ? [] : [...wayTo(kind, last.from), last]
}

/** A task of the kind in its first state, with what changes and reads its state. */
const heldTask = Effect.fnUntraced(function* (kind: Kind) {
  const ledger = yield* Ledger
  const repo = yield* TaskRepo
  const { organizationId, hold, close } = yield* organization(100n)
  const id = jobId(kind === "video" ? "vt" : "im")
  const task = { listedProtocol: "vp_d", summary: {}, submitSeconds: 60 }
  const request = hold(5n, { id, task, modality: kind, ...(kind === "video" ? { quote } : {}) })
  yield* ledger.hold(request)

  const change = Effect.fnUntraced(function* (to: Change) {
    if (to.state === "processing") {
      yield* repo.accept(organizationId, id, upstream(`up-${id}`), 0)
    } else if (to.state === "waiting") {
      yield* repo.waitAgain(organizationId, id)
    } else if (to.state === "submitting") {
      yield* repo.startWaiting(organizationId, id)
    } else if (to.state === "succeeded") {
      yield* ledger.capture({ ...close(id), chargeNano: 1n, usage: usageOf(1n), task: to })
    } else {
      yield* ledger.release({ ...close(id), task: to, orphan: null, forgetKey: false })
    }
  })
  const state = Effect.map(repo.find(organizationId, id), (found) => found.state)
  return { change, state }
})

describe("the table of task states", () => {
  it.each(kinds)("has the changes that calls make of a task of kind %s, and no others", (kind) => {
    const allowed = Object.entries(tableOf(kind)).flatMap(([from, states]) =>
      (states ?? []).map((state) => `${from} ${state}`)
    )
    assert.sameMembers(
      changesOf(kind).map(({ from, state }) => `${from} ${state}`),
      allowed
    )
  })
})

for (const store of storeKinds) {
  layer(layerStoresOf(store), { excludeTestServices: true, timeout: "60 seconds" })(
    `states of tasks (${store})`,
    (it) => {
      const cases = kinds.flatMap((kind) =>
        TaskState.literals.flatMap((from) =>
          tableOf(kind)[from] === undefined
            ? []
            : changesOf(kind).map((change) => [kind, from, change.state, change] as const)
        )
      )
      it.effect.each(cases)(
        "a task of kind %s that is %s becomes %s where the table says so",
        ([kind, from, to, change]) =>
          Effect.gen(function* () {
            const task = yield* heldTask(kind)
            for (const step of wayTo(kind, from)) yield* task.change(step)
            assert.strictEqual(yield* task.state, from)
            yield* task.change(change)
            const isAllowed = change.from === from && tableOf(kind)[from]?.includes(to) === true
            assert.strictEqual(yield* task.state, isAllowed ? to : from)
          })
      )
    }
  )
}

const Check = Schema.Array(Schema.Struct({ definition: Schema.String }))

layer(layerLedgerOn("embedded"), { excludeTestServices: true, timeout: "60 seconds" })(
  "the SQL of tasks",
  (it) => {
    /** The lists of states in the checks of the table that say something with these words. */
    const listsWith = Effect.fnUntraced(function* (words: string) {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* Schema.decodeUnknownEffect(Check)(
        yield* sql`
          SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint
           WHERE conrelid = 'tasks'::regclass AND contype = 'c'`
      )
      const checks = rows.map(({ definition }) => definition).filter((text) => text.includes(words))
      assert.lengthOf(checks, 1, words)
      return [...(checks[0] ?? "").matchAll(/'(\w+)'::text/g)].map(([, state]) => state)
    })

    it.effect("knows the states of the table", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [row] = yield* Schema.decodeUnknownEffect(Check)(
          yield* sql`
            SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint
             WHERE conrelid = 'tasks'::regclass AND conname = 'tasks_state_check'`
        )
        const states = [...(row?.definition ?? "").matchAll(/'(\w+)'::text/g)].map(([, one]) => one)
        assert.sameMembers(states, [...TaskState.literals])
      })
    )

    it.effect("gives every state that is final an end, and no other", () =>
      Effect.gen(function* () {
        const open = TaskState.literals.filter((state) => !isFinal(state))
        assert.sameMembers(yield* listsWith("(finished_at IS NULL)"), open)
      })
    )

    it.effect("polls a task only in the state that videos alone have", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* listsWith("next_poll_at IS NOT NULL"), ["processing"])
        assert.notProperty(transitions.image, "processing")
      })
    )
  }
)
