/** Random commands, with few ids, keys and amounts, so that each often meets what another one left. */
import { budgetScopes } from "../../src/domain/money/budgets.ts"
import { adjustmentKinds } from "../../src/domain/money/transfers.ts"
import type { Generator } from "../simulation/generator.ts"
import { type Command, isTask, MAX_BALANCE, type Model, type Verdict } from "./model.ts"

/** The monthly caps of the members. */
export const caps = [null, 60n, 1_000n] as const
/** Of each member. */
export const API_KEYS = 2

const ORDERS = 8
const amounts = [1n, 1n, 5n, 5n, 20n, 20n, 41n, 60n, 61n, 2n ** 62n] as const
const charges = [1n, 5n, 20n, 90n] as const
const excesses = [1n, 10n, 40n, 100n] as const

type Hold = Extract<Command, { readonly _tag: "Hold" }>
type Close = Extract<Command, { readonly _tag: "Capture" | "Release" }>

/** The id of an order of images, or of a task of images. */
const drawId = (dice: Generator) =>
  `im_f0000000-0000-7000-8000-000000000${10 + dice.below(ORDERS)}${dice.below(2)}`
const drawReference = (dice: Generator) => `r${dice.below(12)}`
const drawSlot = (dice: Generator) => `b${dice.below(5)}`
const drawKey = (dice: Generator) => `key${dice.below(8)}`

/** Mostly one of the last orders, which may be open, or one with a key. */
const drawOrderId = (dice: Generator, model: Model): string => {
  const last = dice.isHit(0.7) ? model.orderIds().slice(-6) : model.keys().map(({ id }) => id)
  return (dice.isHit(0.8) ? last[dice.below(last.length)] : undefined) ?? drawId(dice)
}

const closeOf = (dice: Generator, id: string): Close => {
  const isStale = isTask(id) && dice.isHit(0.4)
  return dice.isHit(0.5)
    ? {
        _tag: "Release",
        id,
        isStale,
        forgetKey: dice.isHit(0.5),
        doubt: dice.isHit(0.3) ? dice.pick(charges) : null
      }
    : { _tag: "Capture", id, isStale, charge: dice.pick(charges), isAnswered: dice.isHit(0.7) }
}

const drawHold = (dice: Generator): Hold => ({
  _tag: "Hold",
  id: drawId(dice),
  member: dice.isHit(0.95) ? dice.below(caps.length) : caps.length,
  apiKey: dice.below(API_KEYS),
  amount: dice.pick(amounts),
  excess: dice.isHit(0.6) ? 0n : dice.pick(excesses),
  key: dice.isHit(0.5) ? drawKey(dice) : null
})

/** Mostly a repeat of a request that has the key. */
const drawRecall = (dice: Generator, model: Model): Command => {
  const keys = model.keys()
  const { key, id } = (dice.isHit(0.8) ? keys[dice.below(keys.length)] : undefined) ?? {
    key: drawKey(dice),
    id: drawId(dice)
  }
  return { _tag: "Recall", key, id }
}

/** Each is drawn as often as it is listed. */
const kinds = [
  "Deposit",
  "Hold",
  "Deposit",
  "Close",
  "Close",
  "Hold",
  "Hold",
  "Hold",
  "Hold",
  "Adjust",
  "Budget",
  "ChangeBudget",
  "Credit",
  "Recall",
  "Recall"
] as const

type Kind = (typeof kinds)[number]

export const drawKind = (dice: Generator): Kind => dice.pick(kinds)

const drawCommand = (dice: Generator, model: Model, _tag: Kind): Command => {
  switch (_tag) {
    case "Deposit": {
      const amount = dice.pick([10n, 100n, 300n, 300n, MAX_BALANCE])
      return { _tag, reference: drawReference(dice), amount }
    }
    case "Adjust": {
      const kind = dice.pick(adjustmentKinds)
      return {
        _tag,
        kind,
        reference: drawReference(dice),
        amount: dice.pick([1n, 5n, 20n]),
        id: kind === "correction" ? drawOrderId(dice, model) : null
      }
    }
    case "Budget": {
      const scope = dice.pick(budgetScopes)
      return {
        _tag,
        slot: drawSlot(dice),
        scope,
        member: scope === "organization" ? null : dice.below(caps.length),
        apiKey: scope === "key" ? dice.below(API_KEYS) : null,
        // Days end, and a run may see it.
        period: dice.pick(["month", "total"]),
        amount: dice.pick([0n, 20n, 60n, 100n, 300n, 1000n])
      }
    }
    case "ChangeBudget":
      return { _tag, slot: drawSlot(dice), amount: dice.pick([null, 40n, 200n]) }
    case "Credit":
      return { _tag, amount: dice.pick([0n, 0n, 10n, 100n]) }
    case "Recall":
      return drawRecall(dice, model)
    case "Close":
      return closeOf(dice, drawOrderId(dice, model))
    case "Hold":
      return drawHold(dice)
  }
}

/** A retry of a command that came before, or a close of the same order. */
const followUpOf = (dice: Generator, command: Command): Command => {
  const isOfOrder =
    command._tag === "Hold" || command._tag === "Capture" || command._tag === "Release"
  return isOfOrder && dice.isHit(0.3) ? closeOf(dice, command.id) : command
}

const MOST_HOLDS = 6
/** Closes that come together are answered in any order, of which there must not be too many. */
const MOST_CLOSES = 4

/** Holds with ids of their own, now and then with one key, or all of them with an exposure. */
const drawHolds = (dice: Generator, first: Hold): ReadonlyArray<Command> => {
  const shared = {
    ...(dice.isHit(0.2) && { key: first.key }),
    ...(dice.isHit(0.2) && { excess: dice.pick(excesses) })
  }
  const holds = [{ ...first, ...shared }]
  while (holds.length < MOST_HOLDS && dice.isHit(0.6)) {
    const next = { ...drawHold(dice), ...shared }
    if (holds.every(({ id }) => id !== next.id)) holds.push(next)
  }
  return holds
}

/** Closes, of which several can be of one order. */
const drawCloses = (dice: Generator, first: Close, model: Model) => {
  const closes = [first]
  for (let { id } = first; closes.length < MOST_CLOSES && dice.isHit(0.7); ) {
    if (dice.isHit(0.5)) id = drawOrderId(dice, model)
    closes.push(closeOf(dice, id))
  }
  return closes
}

/**
 * One command of the kind, or several holds or closes that come at once. Without a kind, some come
 * after one of the past.
 */
export const drawBundle = (
  dice: Generator,
  model: Model,
  past: ReadonlyArray<Command>,
  kind: Kind | null
): ReadonlyArray<Command> => {
  const before = kind === null && dice.isHit(0.3) ? past[dice.below(past.length)] : undefined
  const first =
    before === undefined
      ? drawCommand(dice, model, kind ?? drawKind(dice))
      : followUpOf(dice, before)
  switch (first._tag) {
    case "Hold":
      return drawHolds(dice, first)
    case "Capture":
    case "Release":
      return drawCloses(dice, first, model)
    default:
      return [first]
  }
}

export interface Answer {
  readonly command: Command
  readonly verdict: Verdict
}

/**
 * The model after commands that came at once, in an order in which it gives the same answers; null
 * where there is none.
 */
export const explain = (model: Model, answers: ReadonlyArray<Answer>): Model | null => {
  if (answers.length === 0) return model
  for (const answer of answers) {
    const next = model.copy()
    if (next.apply(answer.command) !== answer.verdict) continue
    const end = explain(
      next,
      answers.filter((other) => other !== answer)
    )
    if (end !== null) return end
  }
  return null
}
