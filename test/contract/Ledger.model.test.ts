import { assert, layer } from "@effect/vitest"
import { Cause, Effect, Exit, Option } from "effect"
import { BudgetExceeded, InsufficientBalance } from "../../src/domain/Errors.ts"
import { budgetScopes } from "../../src/domain/money/budgets.ts"
import { parseNano } from "../../src/domain/money/Money.ts"
import { adjustmentKinds } from "../../src/domain/money/transfers.ts"
import { Access, allScopes } from "../../src/services/Access.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { type Budget, Budgets } from "../../src/services/money/Budgets.ts"
import { Transfers } from "../../src/services/money/Transfers.ts"
import { Accounts } from "../../src/services/operators/Accounts.ts"
import { seedOfDay } from "../support/day.ts"
import { layerStoresOf, ordered, storeKinds, usageOf } from "../support/ledger.ts"
import { type Command, MAX_BALANCE, makeModel, type Verdict } from "../support/ledgerModel.ts"
import { type Dice, diceOf } from "../support/randomOrders.ts"

/** `LEDGER_RUNS=1000` is the long form; the seed repeats a run that failed. */
const RUNS = Number(process.env.LEDGER_RUNS ?? 16)
const SEED = Number(process.env.LEDGER_SEED ?? seedOfDay)
const COMMANDS = 100
/** By how long a run takes. */
const runsOn = { memory: RUNS * 4, citus: 4, embedded: Math.ceil(RUNS / 4), postgres: RUNS }

const caps = [null, 60n, 1_000n] as const
/** Of each member. */
const API_KEYS = 2
const ids = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"] as const
const amounts = [1n, 5n, 20n, 41n, 60n, 61n, 2n ** 62n] as const
const charges = [1n, 5n, 20n, 90n] as const
const excesses = [1n, 10n, 40n, 100n] as const

const closeOf = (dice: Dice, id: string): Command =>
  dice.chance(50)
    ? { _tag: "Release", id, forgetKey: dice.chance(50) }
    : { _tag: "Capture", id, charge: dice.pick(charges) }

/** Few ids, keys and amounts, so that each command often meets what another one left. */
const commandOf = (dice: Dice): Command => {
  const id = `im_${dice.pick(ids)}${dice.roll(2)}`
  switch (dice.roll(13)) {
    case 0:
      return {
        _tag: "Deposit",
        reference: `r${dice.roll(12)}`,
        amount: dice.pick([10n, 100n, 100n, MAX_BALANCE])
      }
    case 9: {
      const kind = dice.pick(adjustmentKinds)
      return {
        _tag: "Adjust",
        kind,
        reference: `r${dice.roll(12)}`,
        amount: dice.pick([1n, 5n, 20n]),
        id: kind === "correction" ? id : null
      }
    }
    case 10: {
      const scope = dice.pick(budgetScopes)
      return {
        _tag: "Budget",
        slot: `b${dice.roll(5)}`,
        scope,
        member: scope === "organization" ? null : dice.roll(caps.length),
        apiKey: scope === "key" ? dice.roll(API_KEYS) : null,
        // Days end, and the test may see it.
        period: dice.pick(["month", "total"]),
        amount: dice.pick([0n, 20n, 60n, 100n, 300n])
      }
    }
    case 11:
      return {
        _tag: "ChangeBudget",
        slot: `b${dice.roll(5)}`,
        amount: dice.pick([null, 40n, 200n])
      }
    case 12:
      return { _tag: "Credit", amount: dice.pick([0n, 0n, 10n, 100n]) }
    case 1:
    case 2:
    case 3:
    case 4:
      return closeOf(dice, id)
    default:
      return {
        _tag: "Hold",
        id,
        member: dice.chance(95) ? dice.roll(caps.length) : caps.length,
        apiKey: dice.roll(API_KEYS),
        amount: dice.pick(amounts),
        excess: dice.chance(60) ? 0n : dice.pick(excesses),
        key: dice.chance(40) ? `key${dice.roll(8)}` : null
      }
  }
}

const usesOf = ({ heldNano, capturedNano }: Budget) => `uses ${heldNano + capturedNano}`

/** A real organisation of the model's members; `foreign` belongs to another one. */
const makeReal = Effect.fnUntraced(function* (foreign: string) {
  const access = yield* Access
  const ledger = yield* Ledger
  const transfers = yield* Transfers
  const budgets = yield* Budgets
  const accounts = yield* Accounts
  const organizationId = yield* access.createOrganization("Model")
  const memberIds: Array<string> = []
  const keyIds: Array<ReadonlyArray<string>> = []
  for (const monthlyCapNano of caps) {
    const memberId = yield* access.createMember(organizationId, { name: "m", monthlyCapNano })
    memberIds.push(memberId)
    const key = { name: "k", scopes: allScopes, models: null, expiresAt: null }
    const made = yield* Effect.replicateEffect(access.createKey(memberId, key), API_KEYS)
    keyIds.push(made.map(({ id }) => id))
  }
  const budgetIds = new Map<string, string>()
  const close = (holdId: string) => ({
    organizationId,
    holdId,
    by: "sweep" as const,
    task: null,
    answer: null
  })
  const job = { channelId: "ch", protocol: "ip_a", upstreamModel: "u" }

  type BudgetCommand = Extract<Command, { readonly _tag: "Budget" | "ChangeBudget" }>

  const runBudget = (command: BudgetCommand): Effect.Effect<Verdict, { readonly _tag: string }> => {
    if (command._tag === "Budget") {
      const { slot, scope, member, apiKey, period, amount } = command
      if (budgetIds.has(slot)) return Effect.succeed("there")
      const subjects = {
        organization: organizationId,
        member: memberIds[member ?? 0] ?? "",
        key: keyIds[member ?? 0]?.[apiKey ?? 0] ?? ""
      }
      const thresholds = [50, 100]
      const budget = { organizationId, scope, subjectId: subjects[scope], period, thresholds }
      return Effect.map(budgets.create({ ...budget, amountNano: amount }), (created) => {
        budgetIds.set(slot, created.id)
        return usesOf(created)
      })
    }
    const id = budgetIds.get(command.slot) ?? "bg_none"
    if (command.amount !== null) {
      return Effect.map(budgets.change(organizationId, id, { amountNano: command.amount }), usesOf)
    }
    return Effect.map(budgets.remove(organizationId, id), () => {
      budgetIds.delete(command.slot)
      return "removed"
    })
  }

  const run = (command: Command): Effect.Effect<Verdict, { readonly _tag: string }> => {
    switch (command._tag) {
      case "Deposit":
        return Effect.map(
          ledger.deposit(organizationId, command.amount, command.reference),
          (applied) => (applied ? "applied" : "repeated")
        )
      case "Adjust":
        return Effect.map(
          transfers.adjust({
            organizationId,
            kind: command.kind,
            amountNano: command.amount,
            reference: command.reference,
            reason: "why",
            author: "who",
            orderId: command.id
          }),
          ({ applied }) => (applied ? "applied" : "repeated")
        )
      case "Hold":
        return Effect.as(
          ledger.hold({
            organizationId,
            memberId: memberIds[command.member] ?? foreign,
            ...ordered,
            keyId: keyIds[command.member]?.[command.apiKey] ?? "",
            id: command.id,
            amountNano: command.amount,
            exposureNano: command.amount + command.excess,
            ttlSeconds: 3600,
            quote: {
              holdNano: String(command.amount),
              ...(command.excess === 0n
                ? {}
                : { exposureNano: String(command.amount + command.excess) })
            },
            job,
            task: null,
            key: command.key === null ? null : { key: command.key, fingerprint: command.id }
          }),
          "held"
        )
      case "Credit":
        return Effect.as(
          accounts.changeOrganization(organizationId, { creditNano: command.amount }),
          "set"
        )
      case "Capture":
      case "Release":
        return Effect.map(
          command._tag === "Capture"
            ? ledger.capture({
                ...close(command.id),
                chargeNano: command.charge,
                usage: usageOf(command.charge)
              })
            : ledger.release({
                ...close(command.id),
                orphan: null,
                forgetKey: command.forgetKey
              }),
          ({ won, state, capturedNano }) => `${state} ${capturedNano} ${won ? "won" : "before"}`
        )
      case "Budget":
      case "ChangeBudget":
        return runBudget(command)
    }
  }
  const verdict = (command: Command): Effect.Effect<Verdict> =>
    Effect.map(Effect.exit(run(command)), (exit) =>
      Exit.isSuccess(exit)
        ? exit.value
        : Option.match(Cause.findErrorOption(exit.cause), {
            onNone: () => "died",
            onSome: (error) =>
              error instanceof BudgetExceeded
                ? `${error._tag} ${Effect.runSync(Effect.fromResult(parseNano(error.amount)))}`
                : error instanceof InsufficientBalance && /under way/.test(error.message)
                  ? `${error._tag} by exposure`
                  : error._tag
          })
    )
  const uses = Effect.forEach(budgetIds, ([slot, id]) =>
    Effect.map(budgets.find(organizationId, id), (budget): readonly [string, bigint] => [
      slot,
      budget.heldNano + budget.capturedNano
    ])
  )
  return { organizationId, memberIds, verdict, uses }
})

/** Commands of one kind that come together are answered in their order. */
const isHold = (command: Command): command is Extract<Command, { readonly _tag: "Hold" }> =>
  command._tag === "Hold"

/** A retry of a command that came before, or a close of the order that it named. */
const followUpOf = (dice: Dice, command: Command): Command => {
  const { _tag } = command
  if (dice.chance(40) || (_tag !== "Hold" && _tag !== "Capture" && _tag !== "Release")) {
    return command
  }
  return closeOf(dice, command.id)
}

/** One command, or several holds with ids of their own that come at once. */
const bundleOf = (dice: Dice, past: ReadonlyArray<Command>): ReadonlyArray<Command> => {
  const before = dice.chance(30) ? past[dice.roll(past.length)] : undefined
  const first = before === undefined ? commandOf(dice) : followUpOf(dice, before)
  if (!isHold(first)) return [first]
  const bundle = new Map([[first.id, first]])
  while (bundle.size < 6 && dice.chance(50)) {
    const next = commandOf(dice)
    if (isHold(next) && !bundle.has(next.id)) bundle.set(next.id, next)
  }
  return [...bundle.values()]
}

/** What every command can be answered, without its amounts. */
const verdictKinds = [
  "Deposit applied",
  "Deposit repeated",
  "Deposit idempotency_mismatch",
  "Deposit invalid_request",
  "Adjust applied",
  "Adjust repeated",
  "Adjust idempotency_mismatch",
  "Adjust invalid_request",
  "Adjust insufficient_balance",
  "Adjust not_found",
  "Hold held",
  "Hold KeyAlreadyUsed",
  "Hold died",
  "Hold member_cap_exceeded",
  "Hold budget_exceeded",
  "Budget uses",
  "Budget there",
  "ChangeBudget uses",
  "ChangeBudget removed",
  "ChangeBudget not_found",
  "Hold insufficient_balance",
  "Hold insufficient_balance by exposure",
  "Credit set",
  "Capture captured won",
  "Capture captured before",
  "Capture released before",
  "Capture died",
  "Release released won",
  "Release released before",
  "Release captured before",
  "Release died"
]

interface Side {
  readonly real: Effect.Success<ReturnType<typeof makeReal>>
  readonly model: ReturnType<typeof makeModel>
}

/** The pool, the members' months and the budgets are what the model has. */
const assertBalances = Effect.fnUntraced(function* ({ real, model }: Side, label: string) {
  const ledger = yield* Ledger
  const { organizationId } = real
  assert.deepEqual(yield* ledger.pool(organizationId), model.pool(), label)
  const months = yield* Effect.forEach(real.memberIds, (memberId) =>
    ledger.memberMonth(organizationId, memberId)
  )
  assert.deepEqual(months, model.months(), label)
  assert.sameDeepMembers(yield* real.uses, model.uses(), label)
})

for (const kind of storeKinds) {
  layer(layerStoresOf(kind), { excludeTestServices: true, timeout: "60 seconds" })(
    `the ledger against its model (${kind})`,
    (it) => {
      it.effect(`agrees on ${COMMANDS} random commands, whichever and however often`, () =>
        Effect.gen(function* () {
          const access = yield* Access
          const ledger = yield* Ledger
          const other = yield* access.createOrganization("Other")
          const foreign = yield* access.createMember(other, { name: "f", monthlyCapNano: null })
          const met = new Set<string>()
          for (let run = 0; run < runsOn[kind]; run++) {
            const label = `LEDGER_SEED=${SEED}, run ${run}`
            const dice = diceOf(SEED + run)
            // Two organisations with the same ids and keys, which must not meet each other.
            const sides = [
              { real: yield* makeReal(foreign), model: makeModel(caps) },
              { real: yield* makeReal(foreign), model: makeModel(caps) }
            ] as const
            const past: Array<Command> = []
            for (let index = 0; index < COMMANDS; index++) {
              const { real, model } = dice.pick(sides)
              const bundle = bundleOf(dice, past)
              past.push(...bundle)
              const expected = bundle.map(model.apply)
              const verdicts = yield* Effect.all(bundle.map(real.verdict), {
                concurrency: "unbounded"
              })
              assert.deepEqual(verdicts, expected, `${label}, command ${index}`)
              bundle.forEach(({ _tag }, at) => {
                met.add(`${_tag} ${expected[at]?.replace(/ \d+/, "")}`)
              })
            }
            for (const side of sides) yield* assertBalances(side, label)
          }
          assert.deepEqual(yield* ledger.verify, [])
          if (kind !== "memory") return
          // What the dice never throw is not tested, however often they are thrown.
          assert.deepEqual(
            verdictKinds.filter((kind) => !met.has(kind)),
            [],
            `LEDGER_SEED=${SEED}`
          )
        })
      )
    }
  )
}
