/** The ledger as a few lines of arithmetic, to compare the real one with. */
import {
  type BudgetPeriod,
  type BudgetScope,
  budgetPeriods,
  budgetScopes
} from "../../src/domain/money/budgets.ts"
import type { AdjustmentKind } from "../../src/domain/money/transfers.ts"

interface ModelHold {
  readonly member: number
  /** Index of one of the member's API keys. */
  readonly apiKey: number
  readonly amount: bigint
  /** What it can come to above that. */
  readonly excess: bigint
  state: "open" | "captured" | "released"
  captured: bigint
  corrected: bigint
}

/** Whose orders count: nobody's number is any. */
interface ModelBudget {
  readonly scope: BudgetScope
  readonly member: number | null
  readonly apiKey: number | null
  readonly period: BudgetPeriod
  amount: bigint
}

/** Beyond it a pool takes no deposit. */
export const MAX_BALANCE = 4_000_000_000_000_000_000n

export type Command =
  | { readonly _tag: "Deposit"; readonly reference: string; readonly amount: bigint }
  | {
      readonly _tag: "Adjust"
      readonly kind: AdjustmentKind
      readonly reference: string
      readonly amount: bigint
      /** Of a correction; null for the others. */
      readonly id: string | null
    }
  | {
      readonly _tag: "Hold"
      readonly id: string
      /** Index of a member; one beyond the last is a stranger. */
      readonly member: number
      readonly apiKey: number
      readonly amount: bigint
      readonly excess: bigint
      readonly key: string | null
    }
  | { readonly _tag: "Credit"; readonly amount: bigint }
  | ({ readonly _tag: "Budget"; readonly slot: string } & Omit<ModelBudget, "amount"> & {
        readonly amount: bigint
      })
  /** A null amount removes it. */
  | { readonly _tag: "ChangeBudget"; readonly slot: string; readonly amount: bigint | null }
  | { readonly _tag: "Capture"; readonly id: string; readonly charge: bigint }
  | { readonly _tag: "Release"; readonly id: string; readonly forgetKey: boolean }

/** One word for what a command comes to, as the real ledger would say it. */
export type Verdict = string

export const makeModel = (caps: ReadonlyArray<bigint | null>) => {
  let balance = 0n
  let held = 0n
  let credit = 0n
  const CAP = "a cap"
  /** By slot, the oldest first: members' caps before the others. All that is ordered is of one day. */
  const budgets = new Map<string, ModelBudget>()
  for (const [member, amount] of caps.entries()) {
    const cap = { scope: "member", member, apiKey: null, period: "month" } as const
    if (amount !== null) budgets.set(`${CAP} ${member}`, { ...cap, amount })
  }
  const holds = new Map<string, ModelHold>()
  const keys = new Map<string, string>()
  /** What each transfer was, all but its reference. */
  const references = new Map<string, string>()

  const transfer = (reference: string, what: string, moved: bigint): Verdict => {
    if (balance + moved > MAX_BALANCE) return "invalid_request"
    references.set(reference, what)
    balance += moved
    return "applied"
  }

  const repeat = (reference: string, what: string): Verdict | null => {
    const known = references.get(reference)
    if (known === undefined) return null
    return known === what ? "repeated" : "idempotency_mismatch"
  }

  const deposit = (reference: string, amount: bigint): Verdict =>
    repeat(reference, `deposit ${amount}`) ?? transfer(reference, `deposit ${amount}`, amount)

  const adjust = ({
    kind,
    reference,
    amount,
    id
  }: Extract<Command, { _tag: "Adjust" }>): Verdict => {
    const what = `${kind} ${amount} ${id}`
    const known = repeat(reference, what)
    if (known !== null) return known
    if (kind === "withdrawal") {
      return amount > balance - held ? "insufficient_balance" : transfer(reference, what, -amount)
    }
    return kind === "correction"
      ? correct(holds.get(id ?? ""), reference, what, amount)
      : transfer(reference, what, amount)
  }

  const correct = (
    charged: ModelHold | undefined,
    reference: string,
    what: string,
    amount: bigint
  ): Verdict => {
    if (charged?.state !== "captured") return "not_found"
    if (charged.corrected + amount > charged.captured) return "invalid_request"
    const verdict = transfer(reference, what, amount)
    if (verdict === "applied") charged.corrected += amount
    return verdict
  }

  const isUnder = (
    { member, apiKey }: Pick<ModelBudget, "member" | "apiKey">,
    order: { readonly member: number; readonly apiKey: number }
  ) => (member ?? order.member) === order.member && (apiKey ?? order.apiKey) === order.apiKey

  const usedOf = (budget: Pick<ModelBudget, "member" | "apiKey">): bigint =>
    [...holds.values()]
      .filter((order) => isUnder(budget, order))
      .reduce(
        (sum, { state, amount, captured }) => sum + (state === "open" ? amount : captured),
        0n
      )

  const uncovered = (): bigint =>
    [...holds.values()].reduce(
      (sum, { state, excess }) => sum + (state === "open" ? excess : 0n),
      0n
    )

  const width = ({ scope, period }: ModelBudget): number =>
    budgetScopes.indexOf(scope) * budgetPeriods.length + budgetPeriods.indexOf(period)

  /** The narrowest budget that the order does not fit into; of equals the smaller one. */
  const refusing = (order: Extract<Command, { readonly _tag: "Hold" }>): Verdict | null => {
    const [first] = [...budgets]
      .filter(
        ([, budget]) => isUnder(budget, order) && usedOf(budget) + order.amount > budget.amount
      )
      .toSorted(
        ([one, a], [other, b]) =>
          width(a) - width(b) || Number(a.amount - b.amount) || (one < other ? -1 : 1)
      )
    if (first === undefined) return null
    const [slot, { amount }] = first
    return slot.startsWith(CAP) ? "member_cap_exceeded" : `budget_exceeded ${amount}`
  }

  const shortageOf = (amount: bigint): Verdict | null => {
    if (amount > balance - held) return "insufficient_balance"
    const others = uncovered()
    return others > 0n && held + others + amount > balance + credit
      ? "insufficient_balance by exposure"
      : null
  }

  const hold = (command: Extract<Command, { readonly _tag: "Hold" }>): Verdict => {
    if (holds.has(command.id)) return "held"
    if (command.key !== null && keys.has(command.key)) return "KeyAlreadyUsed"
    if (command.member >= caps.length) return "died"
    const refusal = refusing(command)
    if (refusal !== null) return refusal
    const shortage = shortageOf(command.amount)
    if (shortage !== null) return shortage
    holds.set(command.id, {
      member: command.member,
      apiKey: command.apiKey,
      amount: command.amount,
      excess: command.excess,
      state: "open",
      captured: 0n,
      corrected: 0n
    })
    if (command.key !== null) keys.set(command.key, command.id)
    held += command.amount
    return "held"
  }

  const close = (id: string, charge: bigint | null, forgetKey: boolean): Verdict => {
    const order = holds.get(id)
    if (order === undefined) return "died"
    if (order.state !== "open") return `${order.state} ${order.captured} before`
    order.state = charge === null ? "released" : "captured"
    order.captured = charge ?? 0n
    held -= order.amount
    balance -= order.captured
    for (const [key, holdId] of keys) if (forgetKey && holdId === id) keys.delete(key)
    return `${order.state} ${order.captured} won`
  }

  const apply = (command: Command): Verdict => {
    switch (command._tag) {
      case "Deposit":
        return deposit(command.reference, command.amount)
      case "Adjust":
        return adjust(command)
      case "Hold":
        return hold(command)
      case "Credit":
        credit = command.amount
        return "set"
      case "Capture":
        return close(command.id, command.charge, false)
      case "Release":
        return close(command.id, null, command.forgetKey)
      case "Budget": {
        const { slot, _tag, ...budget } = command
        if (budgets.has(slot)) return "there"
        budgets.set(slot, budget)
        return `uses ${usedOf(budget)}`
      }
      case "ChangeBudget": {
        const budget = budgets.get(command.slot)
        if (budget === undefined) return "not_found"
        if (command.amount === null) {
          budgets.delete(command.slot)
          return "removed"
        }
        budget.amount = command.amount
        return `uses ${usedOf(budget)}`
      }
    }
  }

  return {
    apply,
    pool: () => ({
      balanceNano: balance,
      heldNano: held,
      uncoveredNano: uncovered(),
      creditNano: credit
    }),
    months: () =>
      caps.map((capNano, member) => {
        const own = [...holds.values()].filter((order) => order.member === member)
        const open = own.filter(({ state }) => state === "open")
        return {
          capNano,
          capturedNano: own.reduce((sum, { captured }) => sum + captured, 0n),
          heldNano: open.reduce((sum, { amount }) => sum + amount, 0n)
        }
      }),
    /** What each budget has used, by its slot. */
    uses: () =>
      [...budgets]
        .filter(([slot]) => !slot.startsWith(CAP))
        .map(([slot, budget]): readonly [string, bigint] => [slot, usedOf(budget)])
  }
}
