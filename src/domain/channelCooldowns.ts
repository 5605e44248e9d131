/**
 * Decides which cooldowns follow from the outcomes of a channel's calls. Organisations are judged
 * one by one, so that an order that makes its vendor fail harms only the organisation that sent it.
 * A cooldown for all organisations therefore requires that the vendor would count as failing
 * without the calls of any single organisation.
 */

/** The outcomes of one organisation's calls for one model of a channel. */
export interface OrganizationEnds {
  readonly model: string
  readonly organizationId: string
  readonly succeeded: number
  /** The number of calls that failed by the vendor's fault. */
  readonly failed: number
}

/** The part of a channel that cools down; its orders are refused during the cooldown. */
export interface CooldownScope {
  /** The model that cools down; null is the whole channel. */
  readonly model: string | null
  /** The organisation whose orders are refused; null is every organisation. */
  readonly organizationId: string | null
}

export interface DueCooldown extends CooldownScope {
  /**
   * Whether no other organisation has calls in this scope. No successful calls of others can then
   * show that the vendor works.
   */
  readonly isAlone: boolean
}

/** The organisation id of the counter that organisations without their own counter share. */
export const OTHERS = "*"

interface Ends {
  readonly succeeded: number
  readonly failed: number
}

type EndsByOrganization = ReadonlyMap<string, Ends>
type EndsByModel = ReadonlyMap<string, EndsByOrganization>

const none: Ends = { succeeded: 0, failed: 0 }

const plus = (one: Ends, other: Ends): Ends => ({
  succeeded: one.succeeded + other.succeeded,
  failed: one.failed + other.failed
})

const callsOf = ({ succeeded, failed }: Ends): number => succeeded + failed

/** Decides whether the vendor fails or works. With few calls, the vendor may count as neither. */
interface Rule {
  readonly isFailing: (ends: EndsByOrganization) => boolean
  /** Whether the vendor probably fails; requires fewer calls than a cooldown does. */
  readonly isLikelyFailing: (ends: EndsByOrganization) => boolean
  readonly isWorking: (ends: EndsByOrganization) => boolean
}

/**
 * The rule for cooldowns of all organisations. One organisation counts for at most `maxWeight`
 * calls.
 */
const ruleForAll = (minCalls: number): Rule => {
  const maxWeight = Math.ceil(minCalls / 2)
  const minFailuresOfOthers = Math.ceil(minCalls / 5)

  const weighed = (ends: EndsByOrganization): ReadonlyArray<Ends> =>
    [...ends.values()].filter((one) => callsOf(one) > 0)
  const weightOf = (ends: Ends): number => Math.min(maxWeight, callsOf(ends))
  const failingWeightOf = (ends: Ends): number => (weightOf(ends) * ends.failed) / callsOf(ends)
  const sum = (all: ReadonlyArray<Ends>, of: (ends: Ends) => number): number =>
    all.reduce((total, ends) => total + of(ends), 0)
  const hasMoreFailures = (all: ReadonlyArray<Ends>): boolean =>
    sum(all, failingWeightOf) * 2 > sum(all, weightOf)

  return {
    isFailing: (ends) => {
      const all = weighed(ends)
      if (all.length < 2 || sum(all, callsOf) < minCalls) return false
      const [failures, failing, weight] = [
        sum(all, ({ failed }) => failed),
        sum(all, failingWeightOf),
        sum(all, weightOf)
      ]
      return all.every(
        (one) =>
          failures - one.failed >= minFailuresOfOthers &&
          (failing - failingWeightOf(one)) * 2 > weight - weightOf(one)
      )
    },
    isLikelyFailing: (ends) => {
      const all = weighed(ends)
      return all.filter(({ failed }) => failed > 0).length >= 2 && hasMoreFailures(all)
    },
    isWorking: (ends) => {
      const all = weighed(ends)
      return sum(all, failingWeightOf) * 2 < sum(all, weightOf)
    }
  }
}

/** The rule for a cooldown of one organisation, based on its own calls. */
const ruleForOne = (minCalls: number): Rule => {
  const minFailures = Math.ceil(minCalls / 5)
  const all = (ends: EndsByOrganization): Ends => [...ends.values()].reduce(plus, none)
  return {
    isFailing: (ends) => {
      const { succeeded, failed } = all(ends)
      return succeeded + failed >= minCalls && failed >= succeeded
    },
    isLikelyFailing: (ends) => {
      const { succeeded, failed } = all(ends)
      return failed >= minFailures && failed >= succeeded
    },
    isWorking: (ends) => {
      const { succeeded, failed } = all(ends)
      return succeeded > failed
    }
  }
}

/**
 * The models that need a cooldown. The only entry is null if several models fail and the whole
 * channel therefore needs a cooldown.
 */
const dueModels = (
  byModel: EndsByModel,
  cooled: ReadonlySet<string | null>,
  { isFailing, isLikelyFailing, isWorking }: Rule
): ReadonlyArray<string | null> => {
  if (cooled.has(null)) return []
  const open = [...byModel].filter(([model]) => !cooled.has(model))
  const likely = open.filter(([, ends]) => isLikelyFailing(ends)).length
  if (likely > 0 && likely + cooled.size >= 2 && !open.some(([, ends]) => isWorking(ends))) {
    const merged = new Map<string, Ends>()
    for (const [, ends] of open) {
      for (const [id, one] of ends) merged.set(id, plus(merged.get(id) ?? none, one))
    }
    if (isFailing(merged)) return [null]
  }
  return open.filter(([, ends]) => isFailing(ends)).map(([model]) => model)
}

const byModelOf = (ends: ReadonlyArray<OrganizationEnds>): EndsByModel => {
  const byModel = new Map<string, Map<string, Ends>>()
  for (const { model, organizationId, succeeded, failed } of ends) {
    const byOrganization = byModel.get(model) ?? new Map<string, Ends>()
    byModel.set(model, byOrganization)
    byOrganization.set(
      organizationId,
      plus(byOrganization.get(organizationId) ?? none, { succeeded, failed })
    )
  }
  return byModel
}

/** Whether another organisation has calls in the scope. */
const hasOthers = (ends: ReadonlyArray<OrganizationEnds>, of: CooldownScope): boolean =>
  ends.some(
    (one) =>
      one.organizationId !== of.organizationId &&
      (of.model === null || one.model === of.model) &&
      callsOf(one) > 0
  )

/** The cooldowns that a channel needs in addition to its current ones. */
export const dueCooldowns = (
  ends: ReadonlyArray<OrganizationEnds>,
  current: ReadonlyArray<CooldownScope>,
  minCalls: number
): ReadonlyArray<DueCooldown> => {
  const cooledModels = (organizationId: string | null) =>
    new Set(
      current.filter((one) => one.organizationId === organizationId).map(({ model }) => model)
    )
  const forAll = cooledModels(null)
  const due = dueModels(byModelOf(ends), forAll, ruleForAll(minCalls))
  const covered = new Set([...forAll, ...due])
  const ofAll = due.map((model) => ({ model, organizationId: null, isAlone: false }))
  if (covered.has(null)) return ofAll

  const remaining = ends.filter(({ model, organizationId }) => {
    return organizationId !== OTHERS && !covered.has(model)
  })
  const ofOne = [...Map.groupBy(remaining, (one) => one.organizationId)].flatMap(
    ([organizationId, ownEnds]) =>
      dueModels(byModelOf(ownEnds), cooledModels(organizationId), ruleForOne(minCalls)).map(
        (model) => {
          const scope = { model, organizationId }
          return { ...scope, isAlone: !hasOthers(ends, scope) }
        }
      )
  )
  return [...ofAll, ...ofOne]
}

/**
 * Cooldowns with `isAlone` that are contradicted by successful calls of another organisation in the
 * same scope.
 */
export const contradictedCooldowns = <A extends DueCooldown>(
  ends: ReadonlyArray<OrganizationEnds>,
  current: ReadonlyArray<A>
): ReadonlyArray<A> => {
  const successes = ends.filter((one) => one.succeeded > 0)
  return current.filter((cooldown) => cooldown.isAlone && hasOthers(successes, cooldown))
}
