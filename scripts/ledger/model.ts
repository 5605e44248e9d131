/** The ledger of one organisation as a few lines of arithmetic, to compare the real one with. */
import {
  type BudgetPeriod,
  type BudgetScope,
  budgetPeriods,
  budgetScopes
} from "../../src/domain/money/budgets.ts"
import { formatNano } from "../../src/domain/money/Money.ts"
import type { AdjustmentKind } from "../../src/domain/money/transfers.ts"
import type { MemberMonth, Pool } from "../../src/services/Ledger.ts"

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
  /** What the vendor counted for an order that was released in doubt; null without a doubt. */
  doubt: bigint | null
}

interface ModelKey {
  readonly id: string
  /** The charge that its stored answer tells; null without one. */
  answer: bigint | null
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
  | (ModelClose & {
      readonly _tag: "Capture"
      readonly charge: bigint
      readonly isAnswered: boolean
    })
  | (ModelClose & {
      readonly _tag: "Release"
      readonly forgetKey: boolean
      /** What the vendor counted; null without a doubt. */
      readonly doubt: bigint | null
    })
  /** A repeat of the request that took the key, or of another one. */
  | { readonly _tag: "Recall"; readonly key: string; readonly id: string }

interface ModelClose {
  readonly id: string
  /** Whether it names a state or a claim in which the order's task is not; of no effect without a task. */
  readonly isStale: boolean
}

type CloseCommand = Extract<Command, { readonly _tag: "Capture" | "Release" }>

/** One word for what a command comes to, as the real ledger would say it. */
export type Verdict = string

/** Whether the order with the id is a task. */
export const isTask = (id: string): boolean => id.endsWith("1")

const CAP = "a cap"

interface ModelBooks {
  balance: bigint
  held: bigint
  credit: bigint
  /** By slot, the oldest first: members' caps before the others. All that is ordered is of one day. */
  readonly budgets: Map<string, ModelBudget>
  readonly holds: Map<string, ModelHold>
  readonly keys: Map<string, ModelKey>
  /** What each transfer was, all but its reference. */
  readonly references: Map<string, string>
}

const emptyBooks = (caps: ReadonlyArray<bigint | null>): ModelBooks => ({
  balance: 0n,
  held: 0n,
  credit: 0n,
  budgets: new Map(
    caps.flatMap((amount, member) =>
      amount === null
        ? []
        : [[`${CAP} ${member}`, { scope: "member", member, apiKey: null, period: "month", amount }]]
    )
  ),
  holds: new Map(),
  keys: new Map(),
  references: new Map()
})

export interface Model {
  readonly apply: (command: Command) => Verdict
  /** The orders that were held, the oldest first. */
  readonly orderIds: () => ReadonlyArray<string>
  /** The keys that are in use, each with the order that took it. */
  readonly keys: () => ReadonlyArray<{ readonly key: string; readonly id: string }>
  /** A ledger of its own with the same books, to try commands on. */
  readonly copy: () => Model
  /** The pool, the members' months, what each budget has used, and the orders in doubt. */
  readonly books: () => {
    readonly pool: Omit<Pool, "overdraftNano">
    readonly months: ReadonlyArray<MemberMonth>
    readonly uses: ReadonlyArray<{ readonly slot: string; readonly usedNano: bigint }>
    readonly doubts: ReadonlyArray<{ readonly id: string; readonly counted: bigint | null }>
  }
}

/** A ledger of members with these monthly caps. */
export const makeModel = (
  caps: ReadonlyArray<bigint | null>,
  books: ModelBooks = emptyBooks(caps)
): Model => {
  const { budgets, holds, keys, references } = books

  const transfer = (reference: string, what: string, moved: bigint): Verdict => {
    if (books.balance + moved > MAX_BALANCE) return "invalid_request"
    references.set(reference, what)
    books.balance += moved
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
      const free = books.balance - books.held
      return amount > free
        ? `insufficient_balance ${formatNano(free)}`
        : transfer(reference, what, -amount)
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
    const [slot, budget] = first
    const code = slot.startsWith(CAP) ? "member_cap_exceeded" : "budget_exceeded"
    return `${code} ${formatNano(budget.amount)} ${formatNano(usedOf(budget))}`
  }

  const shortageOf = (amount: bigint): Verdict | null => {
    const free = books.balance - books.held
    if (amount > free) return `insufficient_balance ${formatNano(free)}`
    const others = uncovered()
    const cover = free + books.credit - others
    return others > 0n && amount > cover
      ? `insufficient_balance by exposure ${formatNano(cover)}`
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
      corrected: 0n,
      doubt: null
    })
    if (command.key !== null) keys.set(command.key, { id: command.id, answer: null })
    books.held += command.amount
    return "held"
  }

  const endOf = ({ state, captured, amount }: ModelHold, by: "won" | "before"): Verdict => {
    const overage = captured > amount ? captured - amount : 0n
    return `${state} ${captured} ${overage} ${by}`
  }

  /** The keys of an order after its close, which may free them or store their answer. */
  const closeKeys = (command: CloseCommand) => {
    for (const [name, key] of keys) {
      if (key.id !== command.id) continue
      if (command._tag === "Capture") key.answer = command.isAnswered ? command.charge : null
      else if (command.forgetKey) keys.delete(name)
    }
  }

  const close = (command: CloseCommand): Verdict => {
    const order = holds.get(command.id)
    if (order === undefined) return "died"
    if (order.state !== "open") return endOf(order, "before")
    if (command.isStale && isTask(command.id)) return endOf(order, "before")
    order.state = command._tag === "Capture" ? "captured" : "released"
    if (command._tag === "Capture") order.captured = command.charge
    else order.doubt = command.doubt
    books.held -= order.amount
    books.balance -= order.captured
    closeKeys(command)
    return endOf(order, "won")
  }

  const recall = ({ key, id }: Extract<Command, { readonly _tag: "Recall" }>): Verdict => {
    const known = keys.get(key)
    if (known === undefined) return "unused"
    if (known.id !== id) return "idempotency_mismatch"
    if (isTask(id)) return "Task"
    if (known.answer !== null) return `Images ${known.answer}`
    return holds.get(id)?.state === "open" ? "idempotency_conflict" : "Refused"
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
        books.credit = command.amount
        return "set"
      case "Capture":
      case "Release":
        return close(command)
      case "Recall":
        return recall(command)
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
    orderIds: () => [...holds.keys()],
    keys: () => [...keys].map(([key, { id }]) => ({ key, id })),
    copy: () => makeModel(caps, structuredClone(books)),
    books: () => ({
      pool: {
        balanceNano: books.balance,
        heldNano: books.held,
        uncoveredNano: uncovered(),
        creditNano: books.credit
      },
      months: caps.map((capNano, member) => {
        const own = [...holds.values()].filter((order) => order.member === member)
        const open = own.filter(({ state }) => state === "open")
        return {
          capNano,
          capturedNano: own.reduce((sum, { captured }) => sum + captured, 0n),
          heldNano: open.reduce((sum, { amount }) => sum + amount, 0n)
        }
      }),
      uses: [...budgets]
        .filter(([slot]) => !slot.startsWith(CAP))
        .map(([slot, budget]) => ({ slot, usedNano: usedOf(budget) }))
        .toSorted((one, other) => (one.slot < other.slot ? -1 : 1)),
      doubts: [...holds]
        .flatMap(([id, { doubt }]) => (doubt === null ? [] : [{ id, counted: doubt }]))
        .toSorted((one, other) => (one.id < other.id ? -1 : 1))
    })
  }
}
