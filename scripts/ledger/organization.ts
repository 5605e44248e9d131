/** An organisation of the model's members at the real stores. */
import { Cause, Effect, Exit, Option } from "effect"
import { BudgetExceeded, InsufficientBalance, MemberCapExceeded } from "../../src/domain/Errors.ts"
import { Access, allScopes } from "../../src/services/Access.ts"
import { IdempotencyKeys } from "../../src/services/IdempotencyKeys.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { type Budget, Budgets } from "../../src/services/money/Budgets.ts"
import { Transfers } from "../../src/services/money/Transfers.ts"
import { Orphans } from "../../src/services/Orphans.ts"
import { Accounts } from "../../src/services/operators/Accounts.ts"
import type { TaskOutcome } from "../../src/services/TaskRepo.ts"
import { API_KEYS } from "./commands.ts"
import { type Command, isTask, type Verdict } from "./model.ts"

type CommandOf<Tag extends Command["_tag"]> = Extract<Command, { readonly _tag: Tag }>
type Outcome = Effect.Effect<Verdict, { readonly _tag: string }>

export interface ModelOrganization {
  readonly organizationId: string
  readonly memberIds: ReadonlyArray<string>
  readonly keyIds: ReadonlyArray<ReadonlyArray<string>>
  /** By slot. */
  readonly budgetIds: Map<string, string>
}

/** Opens an organisation of members with these monthly caps. */
export const openOrganization = Effect.fnUntraced(function* (caps: ReadonlyArray<bigint | null>) {
  const access = yield* Access
  const organizationId = yield* access.createOrganization("Model")
  const members = yield* Effect.forEach(caps, (monthlyCapNano) =>
    Effect.gen(function* () {
      const memberId = yield* access.createMember(organizationId, { name: "m", monthlyCapNano })
      const key = { name: "k", scopes: allScopes, models: null, expiresAt: null }
      const keys = yield* Effect.replicateEffect(access.createKey(memberId, key), API_KEYS)
      return { memberId, keyIds: keys.map(({ id }) => id) }
    })
  )
  const organization: ModelOrganization = {
    organizationId,
    memberIds: members.map(({ memberId }) => memberId),
    keyIds: members.map(({ keyIds }) => keyIds),
    budgetIds: new Map()
  }
  return organization
})

const job = { channelId: "ch", protocol: "ip_a", upstreamModel: "u" }
/** Longer than any run, so that no sweep ends an order. */
const TTL_SECONDS = 36_000

const usesOf = ({ heldNano, capturedNano }: Budget) => `uses ${heldNano + capturedNano}`
const appliedOf = (isApplied: boolean) => (isApplied ? "applied" : "repeated")

const verdictOf = (error: { readonly _tag: string }): Verdict => {
  if (error instanceof BudgetExceeded) {
    return `${error._tag} ${error.amount} ${error.used}`
  }
  if (error instanceof MemberCapExceeded) {
    return `${error._tag} ${error.cap} ${error.used}`
  }
  if (error instanceof InsufficientBalance) {
    const reason = /under way/.test(error.message) ? " by exposure" : ""
    return `${error._tag}${reason} ${error.available}`
  }
  return error._tag
}

const bySlot = ([one]: readonly [string, string], [other]: readonly [string, string]) =>
  one < other ? -1 : 1

const usage = {
  input: 0n,
  unit: "image",
  unitPriceNano: 1n,
  basis: "requested_images"
} as const

/** A stale success is one of a state in which the task is not. */
const successOf = ({ id, isStale }: CommandOf<"Capture">): TaskOutcome | null => {
  if (!isTask(id)) return null
  return isStale
    ? { from: "processing", state: "succeeded", videoUrl: "", completionTokens: null }
    : { from: "submitting", state: "succeeded", result: {} }
}

/** A stale failure is one under a claim that the task does not have. */
const failureOf = ({ id, isStale }: CommandOf<"Release">): TaskOutcome | null =>
  isTask(id)
    ? {
        from: "submitting",
        state: "failed",
        errorCode: "e",
        errorMessage: "e",
        lease: isStale ? 1n : 0n
      }
    : null

export type Runner = Effect.Success<ReturnType<typeof makeRunner>>

/** Runs commands at the stores of one gateway, some with a member or a budget of the other organisation. */
export const makeRunner = Effect.fnUntraced(function* (
  { organizationId, memberIds, keyIds, budgetIds }: ModelOrganization,
  other: ModelOrganization
) {
  const ledger = yield* Ledger
  const transfers = yield* Transfers
  const budgets = yield* Budgets
  const accounts = yield* Accounts
  const keys = yield* IdempotencyKeys
  const orphans = yield* Orphans

  const hold = (command: CommandOf<"Hold">): Outcome => {
    const { id, amount, excess, key } = command
    const quote = {
      holdNano: String(amount),
      ...(excess === 0n ? {} : { exposureNano: String(amount + excess) })
    }
    return Effect.as(
      ledger.hold({
        organizationId,
        memberId: memberIds[command.member] ?? other.memberIds[0] ?? "",
        keyId: keyIds[command.member]?.[command.apiKey] ?? "",
        model: "paint-1",
        modality: "image",
        id,
        amountNano: amount,
        exposureNano: amount + excess,
        ttlSeconds: TTL_SECONDS,
        quote,
        job,
        task: isTask(id)
          ? { listedProtocol: job.protocol, summary: {}, submitSeconds: TTL_SECONDS }
          : null,
        key: key === null ? null : { key, fingerprint: id }
      }),
      "held"
    )
  }

  const close = (command: CommandOf<"Capture" | "Release">): Outcome => {
    const common = { organizationId, holdId: command.id, by: "sweep" as const }
    const closed =
      command._tag === "Capture"
        ? ledger.capture({
            ...common,
            task: successOf(command),
            chargeNano: command.charge,
            usage: { ...usage, output: command.charge },
            answer: command.isAnswered
              ? { _tag: "Images", result: { charge: String(command.charge) } }
              : null
          })
        : ledger.release({
            ...common,
            task: failureOf(command),
            answer: null,
            orphan:
              command.doubt === null
                ? null
                : {
                    reason: "model",
                    upstreamId: null,
                    usage: { input: null, output: command.doubt }
                  },
            forgetKey: command.forgetKey
          })
    return Effect.map(
      closed,
      ({ won, state, capturedNano, overageNano }) =>
        `${state} ${capturedNano} ${overageNano} ${won ? "won" : "before"}`
    )
  }

  const openBudget = (command: CommandOf<"Budget">): Outcome => {
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

  const changeBudget = ({ slot, amount }: CommandOf<"ChangeBudget">): Outcome => {
    const id = budgetIds.get(slot) ?? other.budgetIds.get(slot) ?? "bg_none"
    if (amount !== null) {
      return Effect.map(budgets.change(organizationId, id, { amountNano: amount }), usesOf)
    }
    return Effect.map(budgets.remove(organizationId, id), () => {
      budgetIds.delete(slot)
      return "removed"
    })
  }

  const recall = ({ key, id }: CommandOf<"Recall">): Outcome =>
    Effect.map(keys.recall(organizationId, { key, fingerprint: id }), (answer) => {
      if (answer === null) return "unused"
      return answer._tag === "Images" && "charge" in answer.result
        ? `${answer._tag} ${answer.result.charge}`
        : answer._tag
    })

  const outcomeOf = (command: Command): Outcome => {
    switch (command._tag) {
      case "Deposit":
        return Effect.map(
          ledger.deposit(organizationId, command.amount, command.reference),
          appliedOf
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
          ({ applied }) => appliedOf(applied)
        )
      case "Credit":
        return Effect.as(
          accounts.changeOrganization(organizationId, { creditNano: command.amount }),
          "set"
        )
      case "Hold":
        return hold(command)
      case "Capture":
      case "Release":
        return close(command)
      case "Budget":
        return openBudget(command)
      case "ChangeBudget":
        return changeBudget(command)
      case "Recall":
        return recall(command)
    }
  }

  return {
    run: (command: Command): Effect.Effect<Verdict> =>
      Effect.map(Effect.exit(outcomeOf(command)), (exit) =>
        Exit.isSuccess(exit)
          ? exit.value
          : Option.match(Cause.findErrorOption(exit.cause), {
              onNone: () => "died",
              onSome: verdictOf
            })
      ),
    /** What the books of the organisation have, as the model tells it. */
    readBooks: Effect.all({
      pool: ledger.pool(organizationId),
      months: Effect.forEach(memberIds, (memberId) => ledger.memberMonth(organizationId, memberId)),
      uses: Effect.suspend(() =>
        Effect.forEach([...budgetIds].toSorted(bySlot), ([slot, id]) =>
          Effect.map(budgets.find(organizationId, id), ({ heldNano, capturedNano }) => ({
            slot,
            usedNano: heldNano + capturedNano
          }))
        )
      ),
      doubts: Effect.map(
        orphans.list(
          { isResolved: false, organizationId, channelId: null, reason: null },
          { limit: 100, after: null }
        ),
        ({ data }) =>
          data
            .map(({ id, usage }) => ({ id, counted: usage?.output ?? null }))
            .toSorted((one, other) => (one.id < other.id ? -1 : 1))
      )
    })
  }
})
