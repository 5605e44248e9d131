/**
 * Whatever orders fail, and whosever they are: nobody is refused for another one's failures alone, and a
 * vendor that fails is left alone. PROPERTY_CASES sets how many histories, PROPERTY_SEED repeats a run.
 */
import { assert, describe, it } from "@effect/vitest"
import {
  contradictedCooldowns,
  type DueCooldown,
  dueCooldowns,
  type OrganizationEnds
} from "../../src/domain/channelCooldowns.ts"
import { seedOfDay } from "../support/day.ts"
import { type Dice, diceOf } from "../support/randomOrders.ts"

const CASES = Number(process.env.PROPERTY_CASES ?? 1500)
const SEED = Number(process.env.PROPERTY_SEED ?? seedOfDay)

const LEAST_CALLS = 10
const organizations = ["org_1", "org_2", "org_3", "org_4", "org_5"] as const
const models = ["a", "b", "c"] as const

const ends = (
  organizationId: string,
  model: string,
  succeeded: number,
  failed: number
): OrganizationEnds => ({ organizationId, model, succeeded, failed })

/** What is wrong at the vendor: for whom, and for what. */
interface Fault {
  readonly organizationId: string | null
  readonly model: string | null
}

interface History {
  readonly faults: ReadonlyArray<Fault>
  /** What came in each second. */
  readonly seconds: ReadonlyArray<ReadonlyArray<OrganizationEnds>>
}

const isFaulty = (faults: ReadonlyArray<Fault>, organizationId: string, model: string): boolean =>
  faults.some(
    (fault) =>
      (fault.organizationId ?? organizationId) === organizationId &&
      (fault.model ?? model) === model
  )

const drawFaults = (dice: Dice): ReadonlyArray<Fault> => {
  const poisoner = { organizationId: dice.pick(organizations), model: null }
  switch (dice.roll(5)) {
    case 0:
      return [poisoner]
    case 1:
      return [{ ...poisoner, model: dice.pick(models) }]
    case 2:
      return [{ organizationId: null, model: dice.pick(models) }]
    case 3:
      return [{ organizationId: null, model: null }]
    default:
      return [poisoner, { organizationId: null, model: dice.pick(models) }]
  }
}

const drawHistory = (dice: Dice): History => {
  const faults = drawFaults(dice)
  const served = organizations.slice(0, 1 + dice.roll(organizations.length))
  const offered = models.slice(0, 1 + dice.roll(models.length))
  const seconds = Array.from({ length: 1 + dice.roll(30) }, () =>
    served.flatMap((organizationId) =>
      offered.flatMap((model) => {
        if (dice.chance(60)) return []
        const calls = dice.chance(10) ? 1 + dice.roll(200) : 1 + dice.roll(4)
        return isFaulty(faults, organizationId, model)
          ? [ends(organizationId, model, 0, calls)]
          : [ends(organizationId, model, calls, 0)]
      })
    )
  )
  return { faults, seconds }
}

const isIn = (rest: { readonly model: string | null }, model: string): boolean =>
  (rest.model ?? model) === model

/** The rests that began in each second, of which none ends. */
const played = ({ seconds }: History) => {
  const all: Array<OrganizationEnds> = []
  const resting: Array<DueCooldown> = []
  return seconds.map((second) => {
    const isRefused = ({ model, organizationId }: OrganizationEnds): boolean =>
      resting.some(
        (rest) => (rest.organizationId ?? organizationId) === organizationId && isIn(rest, model)
      )
    all.push(...second.filter((one) => !isRefused(one)))
    const due = dueCooldowns(all, resting, LEAST_CALLS)
    resting.push(...due)
    return { all: [...all], resting: [...resting], due }
  })
}

const callsOf = (
  all: ReadonlyArray<OrganizationEnds>,
  isLike: (one: OrganizationEnds) => boolean
) => {
  const like = all.filter(isLike)
  const sum = (of: (one: OrganizationEnds) => number) =>
    like.reduce((total, one) => total + of(one), 0)
  return { made: sum(({ succeeded }) => succeeded), failed: sum(({ failed }) => failed) }
}

type Moment = ReturnType<typeof played>[number]

const assertRest = (rest: DueCooldown, { all, resting }: Moment): void => {
  const { failed, made } = callsOf(
    all,
    (one) =>
      isIn(rest, one.model) && (rest.organizationId ?? one.organizationId) === one.organizationId
  )
  assert.isAtLeast(failed + made, LEAST_CALLS, "a rest by fewer calls")
  const isRepeated = resting.some(
    (other) =>
      other !== rest && other.organizationId === rest.organizationId && other.model === rest.model
  )
  assert.isFalse(isRepeated, "a rest of what rests")
  if (rest.organizationId === null) assertRestForAll(rest, all)
  else assert.isAtLeast(failed, made, "an organisation is refused whose orders are made")
  if (rest.model === null) {
    const failing = new Set(all.filter((one) => one.failed > 0).map(({ model }) => model))
    assert.isAtLeast(failing.size, 2, "a whole channel rests for one model")
  }
}

const assertRestForAll = (rest: DueCooldown, all: Moment["all"]): void => {
  const failing = new Set(
    all
      .filter((one) => isIn(rest, one.model) && one.failed > 0)
      .map(({ organizationId }) => organizationId)
  )
  assert.isAtLeast(failing.size, 2, "a rest for all by one organisation's failures")
  // Nobody is so bad alone that the others would not need it without that one.
  for (const id of failing) {
    const others = callsOf(all, (one) => isIn(rest, one.model) && one.organizationId !== id)
    assert.isAbove(others.failed, 0, "a rest for all that one organisation decides")
  }
}

/** An organisation whose orders are all made is refused only where most others' are not. */
const assertGoodAreServed = ({ all, resting }: Moment): void => {
  const pairs = organizations.flatMap((organizationId) =>
    models.map((model) => ({ organizationId, model }))
  )
  for (const { organizationId, model } of pairs) {
    const calls = callsOf(
      all,
      (one) => one.model === model && one.organizationId === organizationId
    )
    if (calls.failed > 0 || calls.made < LEAST_CALLS) continue
    assert.isFalse(
      resting.some((rest) => rest.organizationId === organizationId && isIn(rest, model)),
      "an organisation rests by itself whose orders are made"
    )
  }
}

/** A model that the vendor fails for everybody rests for everybody. */
const assertFailingRests = (model: string, { all, resting }: Moment): void => {
  const ofModel = all.filter((one) => one.model === model)
  const everybody = [...new Set(ofModel.map(({ organizationId }) => organizationId))]
  const { made, failed } = callsOf(ofModel, () => true)
  if (made > 0 || failed < LEAST_CALLS * 2) return
  const refused = everybody.filter((organizationId) =>
    resting.some(
      (rest) => (rest.organizationId ?? organizationId) === organizationId && isIn(rest, model)
    )
  )
  const worst = Math.max(
    ...everybody.map((id) => callsOf(ofModel, (one) => one.organizationId === id).failed)
  )
  if (everybody.length === 1) {
    assert.lengthOf(refused, 1, "one that is alone is not left to fail")
  } else if (failed - worst >= 2) {
    assert.strictEqual(refused.length, everybody.length, "a vendor that fails all is called on")
  }
}

const check = (moments: ReadonlyArray<Moment>): void => {
  for (const moment of moments) {
    for (const rest of moment.due) assertRest(rest, moment)
    assertGoodAreServed(moment)
  }
  const last = moments.at(-1)
  if (last === undefined) return
  for (const model of models) assertFailingRests(model, last)
}

/** Checks a history; an error names the seed that repeats it. */
const checkHistory = (seed: number): ReadonlyArray<DueCooldown> => {
  const history = drawHistory(diceOf(seed))
  const moments = played(history)
  try {
    check(moments)
  } catch (error) {
    throw new Error(`PROPERTY_SEED=${seed} PROPERTY_CASES=1: ${JSON.stringify(history)}`, {
      cause: error
    })
  }
  return moments.at(-1)?.resting ?? []
}

describe("rests", () => {
  it(`follow from the faults that there are (PROPERTY_SEED=${SEED})`, () => {
    const rests = Array.from({ length: CASES }, (_, index) => checkHistory(SEED + index)).flat()
    // A run without some of each would prove little.
    if (CASES < 100) return
    assert.isTrue(
      rests.some(({ organizationId }) => organizationId === null),
      "none for all"
    )
    assert.isTrue(
      rests.some(({ organizationId }) => organizationId !== null),
      "none for one"
    )
    assert.isTrue(
      rests.some(({ isAlone }) => isAlone),
      "none of one that is alone"
    )
    assert.isTrue(
      rests.some(({ model }) => model === null),
      "none of a whole channel"
    )
  })
})

/** By name: what happened, and which rests it needs. */
const named: ReadonlyArray<
  readonly [string, ReadonlyArray<OrganizationEnds>, ReadonlyArray<DueCooldown>, DueCooldown | null]
> = [
  [
    "twelve orders of one on which the vendor answers 500, and another one's that are made",
    [ends("org_1", "a", 0, 12), ends("org_2", "a", 3, 0)],
    [{ model: "a", organizationId: "org_1", isAlone: false }],
    null
  ],
  [
    "the same, before anybody else has ordered",
    [ends("org_1", "a", 0, 12)],
    [{ model: "a", organizationId: "org_1", isAlone: true }],
    null
  ],
  [
    "a flood of one, and one bad order of another",
    [ends("org_1", "a", 0, 5000), ends("org_2", "a", 0, 1)],
    [{ model: "a", organizationId: "org_1", isAlone: false }],
    null
  ],
  [
    "a flood of one, and a bad order of each of two others, which are served",
    [ends("org_1", "a", 0, 5000), ends("org_2", "a", 9, 1), ends("org_3", "a", 9, 1)],
    [{ model: "a", organizationId: "org_1", isAlone: false }],
    null
  ],
  [
    "two that fail beside one that is served",
    [ends("org_1", "a", 0, 99), ends("org_2", "a", 0, 99), ends("org_3", "a", 9, 0)],
    [
      { model: "a", organizationId: "org_1", isAlone: false },
      { model: "a", organizationId: "org_2", isAlone: false }
    ],
    null
  ],
  ["too few failures", [ends("org_1", "a", 0, 4), ends("org_2", "a", 0, 5)], [], null],
  ["fewer failures than orders that are made", [ends("org_1", "a", 11, 10)], [], null],
  [
    "a vendor that fails a model for all",
    [ends("org_1", "a", 0, 6), ends("org_2", "a", 0, 4), ends("org_2", "b", 4, 0)],
    [{ model: "a", organizationId: null, isAlone: false }],
    null
  ],
  [
    "a vendor that has failed half of the orders of each",
    [ends("org_1", "a", 30, 40), ends("org_2", "a", 20, 30)],
    [{ model: "a", organizationId: null, isAlone: false }],
    null
  ],
  [
    "many that order once",
    Array.from({ length: 10 }, (_, index) => ends(`org_${index}`, "a", 0, 1)),
    [{ model: "a", organizationId: null, isAlone: false }],
    null
  ],
  [
    "a vendor that fails every model for all",
    [
      ends("org_1", "a", 0, 3),
      ends("org_2", "a", 0, 3),
      ends("org_1", "b", 0, 3),
      ends("org_2", "b", 0, 3)
    ],
    [{ model: null, organizationId: null, isAlone: false }],
    null
  ],
  [
    "one that poisons two models beside others that are served",
    [ends("org_1", "a", 0, 12), ends("org_1", "b", 0, 12), ends("org_2", "a", 1, 0)],
    [{ model: null, organizationId: "org_1", isAlone: false }],
    null
  ],
  [
    "one that poisons one model and is served in another",
    [ends("org_1", "a", 0, 12), ends("org_1", "b", 1, 0)],
    [{ model: "a", organizationId: "org_1", isAlone: true }],
    null
  ],
  [
    "a second model that fails while the first one rests",
    [ends("org_1", "b", 0, 5), ends("org_2", "b", 0, 5)],
    [{ model: null, organizationId: null, isAlone: false }],
    { model: "a", organizationId: null, isAlone: false }
  ],
  [
    "one that fails where all rest",
    [ends("org_1", "a", 0, 12)],
    [],
    { model: "a", organizationId: null, isAlone: false }
  ],
  ["organisations that are counted together", [ends("*", "a", 0, 12)], [], null]
]

describe("a channel has to rest", () => {
  it.each(named)("%s", (_, all, expected, resting) => {
    const rests = resting === null ? [] : [resting]
    assert.deepStrictEqual(dueCooldowns(all, rests, LEAST_CALLS), expected)
  })

  it("for one alone until another one's order is made", () => {
    const alone = { model: "a", organizationId: "org_1", isAlone: true }
    const rests = [alone, { ...alone, isAlone: false }, { ...alone, model: "b" }]
    const contradictedBy = (...all: ReadonlyArray<OrganizationEnds>) =>
      contradictedCooldowns(all, rests)
    assert.deepStrictEqual(contradictedBy(ends("org_1", "a", 1, 0), ends("org_2", "a", 0, 1)), [])
    assert.deepStrictEqual(contradictedBy(ends("org_2", "a", 1, 1)), [alone])
  })
})
