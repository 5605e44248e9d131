/** The ledger as a few lines of arithmetic, to compare the real one with. */

interface ModelHold {
  readonly member: number
  readonly amount: bigint
  state: "open" | "captured" | "released"
  captured: bigint
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
  const references = new Map<string, bigint>()

  const deposit = (reference: string, amount: bigint): Verdict => {
    const known = references.get(reference)
    if (known !== undefined) return known === amount ? "repeated" : "idempotency_mismatch"
    if (balance + amount > MAX_BALANCE) return "invalid_request"
    references.set(reference, amount)
    balance += amount
    return "applied"
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
      captured: 0n
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
