/** The ledger as a few lines of arithmetic, to compare the real one with. */
import type { AdjustmentKind } from "../../src/domain/money/transfers.ts"

interface ModelHold {
  readonly member: number
  readonly amount: bigint
  state: "open" | "captured" | "released"
  captured: bigint
  corrected: bigint
}

interface ModelMember {
  readonly cap: bigint | null
  held: bigint
  captured: bigint
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
      readonly amount: bigint
      readonly key: string | null
    }
  | { readonly _tag: "Capture"; readonly id: string; readonly charge: bigint }
  | { readonly _tag: "Release"; readonly id: string; readonly forgetKey: boolean }

/** One word for what a command comes to, as the real ledger would say it. */
export type Verdict = string

export const makeModel = (caps: ReadonlyArray<bigint | null>) => {
  let balance = 0n
  let held = 0n
  const members = caps.map((cap): ModelMember => ({ cap, held: 0n, captured: 0n }))
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
    const charged = kind === "correction" ? holds.get(id ?? "") : undefined
    if (kind === "correction") {
      if (charged?.state !== "captured") return "not_found"
      if (charged.corrected + amount > charged.captured) return "invalid_request"
    }
    const verdict = transfer(reference, what, amount)
    if (charged !== undefined && verdict === "applied") charged.corrected += amount
    return verdict
  }

  const hold = (command: Extract<Command, { readonly _tag: "Hold" }>): Verdict => {
    if (holds.has(command.id)) return "held"
    if (command.key !== null && keys.has(command.key)) return "KeyAlreadyUsed"
    const member = members[command.member]
    if (member === undefined) return "died"
    if (member.cap !== null && member.held + member.captured + command.amount > member.cap) {
      return "member_cap_exceeded"
    }
    if (command.amount > balance - held) return "insufficient_balance"
    holds.set(command.id, {
      member: command.member,
      amount: command.amount,
      state: "open",
      captured: 0n,
      corrected: 0n
    })
    if (command.key !== null) keys.set(command.key, command.id)
    held += command.amount
    member.held += command.amount
    return "held"
  }

  const close = (id: string, charge: bigint | null, forgetKey: boolean): Verdict => {
    const found = holds.get(id)
    if (found === undefined) return "died"
    if (found.state !== "open") return `${found.state} ${found.captured} before`
    found.state = charge === null ? "released" : "captured"
    found.captured = charge ?? 0n
    held -= found.amount
    balance -= found.captured
    const member = members[found.member]
    if (member !== undefined) {
      member.held -= found.amount
      member.captured += found.captured
    }
    for (const [key, holdId] of keys) if (forgetKey && holdId === id) keys.delete(key)
    return `${found.state} ${found.captured} won`
  }

  const apply = (command: Command): Verdict => {
    switch (command._tag) {
      case "Deposit":
        return deposit(command.reference, command.amount)
      case "Adjust":
        return adjust(command)
      case "Hold":
        return hold(command)
      case "Capture":
        return close(command.id, command.charge, false)
      case "Release":
        return close(command.id, null, command.forgetKey)
    }
  }

  return {
    apply,
    balance: () => ({ balanceNano: balance, heldNano: held }),
    months: () =>
      members.map((member) => ({
        capNano: member.cap,
        capturedNano: member.captured,
        heldNano: member.held
      }))
  }
}
