/** Random commands at the real stores, whose answers have to be those of the model. */
import { type Context, Effect, Formatter } from "effect"
import type { Generator } from "../simulation/generator.ts"
import { type Answer, caps, drawBundle, drawKind, explain } from "./commands.ts"
import { type Command, type Model, makeModel } from "./model.ts"
import {
  type ModelOrganization,
  makeRunner,
  openOrganization,
  type Runner
} from "./organization.ts"

/** An organisation: the gateways at which its commands run, and the model of it so far. */
export interface Side {
  readonly runners: readonly [Runner, ...ReadonlyArray<Runner>]
  readonly hasBudgets: boolean
  model: Model
  /** The commands so far. */
  readonly past: Array<Command>
}

/** What commands need of a gateway. */
type Stores = Effect.Services<ReturnType<typeof openOrganization> | ReturnType<typeof makeRunner>>

/** More than the ledger has calls at a time, so that a call serves those that wait. */
const ORGANIZATIONS = 6
const uncapped = caps.map(() => null)

/**
 * Organisations with the same ids and keys, which must not meet each other. The first has no budgets,
 * and no caps.
 */
export const makeSides = Effect.fnUntraced(function* (
  gateways: readonly [Context.Context<Stores>, ...ReadonlyArray<Context.Context<Stores>>]
) {
  const [first, ...others] = gateways
  const capsOf = (index: number) => (index === 0 ? uncapped : caps)
  const organizations = yield* Effect.forEach(
    Array.from({ length: ORGANIZATIONS }, (_, index) => index),
    (index) => Effect.provide(openOrganization(capsOf(index)), first)
  )
  const makeSide = Effect.fnUntraced(function* (
    index: number,
    mine: ModelOrganization,
    theirs: ModelOrganization
  ) {
    const runner = makeRunner(mine, theirs)
    const side: Side = {
      runners: [
        yield* Effect.provide(runner, first),
        ...(yield* Effect.forEach(others, (gateway) => Effect.provide(runner, gateway)))
      ],
      hasBudgets: index > 0,
      model: makeModel(capsOf(index)),
      past: []
    }
    return side
  })
  return yield* Effect.forEach(organizations, (mine, index) =>
    makeSide(index, mine, organizations[(index + 1) % ORGANIZATIONS] ?? mine)
  )
})

const MOST_GATEWAYS = 2
/** The probability that organisations have commands of one kind, such as holds that share a call. */
const KIND_PROBABILITY = 0.4

/** Holds alone that come together at one gateway are answered in their order. */
const explainInOrder = (model: Model, answers: ReadonlyArray<Answer>): Model | null => {
  if (!answers.every(({ command }) => command._tag === "Hold")) return explain(model, answers)
  const next = model.copy()
  return answers.every(({ command, verdict }) => next.apply(command) === verdict) ? next : null
}

/** Draws commands of one organisation, or of each, that come at once, and where each runs. */
const drawEntries = (sides: ReadonlyArray<Side>, dice: Generator) => {
  const one = sides[dice.below(sides.length)]
  const drawnSides = one === undefined || dice.isHit(0.6) ? sides : [one]
  // Movements at one gateway can share a commit.
  const gateway = dice.isHit(0.7) ? dice.below(MOST_GATEWAYS) : null
  const kind = dice.isHit(KIND_PROBABILITY) ? drawKind(dice) : null
  return drawnSides.flatMap((side) =>
    drawBundle(dice, side.model, side.past, kind)
      .filter(({ _tag }) => side.hasBudgets || _tag !== "Budget")
      .map((command) => {
        side.past.push(command)
        const runner = side.runners[gateway ?? dice.below(MOST_GATEWAYS)] ?? side.runners[0]
        return { side, command, runner }
      })
  )
}

/**
 * Runs commands that are drawn for these organisations, and compares their books in the end. Returns
 * the first difference, null for none, and the kinds of commands and answers there were.
 */
export const compare = Effect.fnUntraced(function* (
  sides: ReadonlyArray<Side>,
  dice: Generator,
  { bundles, areHoldsInOrder }: { readonly bundles: number; readonly areHoldsInOrder: boolean }
) {
  const kinds = new Set<string>()
  for (let count = 0; count < bundles; count += 1) {
    const entries = yield* Effect.forEach(
      drawEntries(sides, dice),
      ({ side, command, runner }) =>
        Effect.map(runner.run(command), (verdict) => ({ side, answer: { command, verdict } })),
      { concurrency: "unbounded" }
    )
    for (const side of sides) {
      const answers = entries.flatMap((entry) => (entry.side === side ? [entry.answer] : []))
      const next = (areHoldsInOrder ? explainInOrder : explain)(side.model, answers)
      if (next === null) {
        return { kinds, difference: `bundle ${count} was answered ${Formatter.format(answers)}` }
      }
      side.model = next
    }
    for (const { answer } of entries) {
      kinds.add(`${answer.command._tag} ${answer.verdict.replace(/ -?[\d.]+/g, "")}`)
    }
  }
  for (const { runners, model } of sides) {
    const books = Formatter.format(yield* runners[0].readBooks)
    const expected = Formatter.format(model.books())
    if (books !== expected) return { kinds, difference: `${books} should be ${expected}` }
  }
  return { kinds, difference: null }
})
