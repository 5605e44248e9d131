/**
 * Which rests follow from how the calls of a channel ended. Organisations are judged one by one, so that
 * an order that makes its vendor fail harms nobody but the one who sends it: what rests for all must
 * still fail when any one organisation is left out.
 */

/** How the calls of one organisation for one model of a channel ended. */
export interface OrganizationEnds {
  readonly model: string
  readonly organizationId: string
  readonly made: number
  /** By the vendor's fault. */
  readonly failed: number
}

/** What of a channel rests, and whose orders are refused meanwhile. */
export interface CooldownScope {
  /** Null is the whole channel. */
  readonly model: string | null
  /** Null is every organisation. */
  readonly organizationId: string | null
}

export interface DueCooldown extends CooldownScope {
  /** The organisation is the only one that orders there, so that nothing says that its vendor works. */
  readonly isAlone: boolean
}

/** Where organisations are counted that have no counter of their own. */
export const OTHERS = "*"

interface Ends {
  readonly made: number
  readonly failed: number
}

type EndsByOrganization = ReadonlyMap<string, Ends>
type EndsByModel = ReadonlyMap<string, EndsByOrganization>

const none: Ends = { made: 0, failed: 0 }

const plus = (one: Ends, other: Ends): Ends => ({
  made: one.made + other.made,
  failed: one.failed + other.failed
})

const callsOf = ({ made, failed }: Ends): number => made + failed

/** Whether something fails and whether it works; few calls, or as many of each, tell neither. */
interface Rule {
  readonly isFailing: (ends: EndsByOrganization) => boolean
  /** With fewer calls than a rest needs. */
  readonly isLikelyFailing: (ends: EndsByOrganization) => boolean
  readonly isWorking: (ends: EndsByOrganization) => boolean
}

/** For every organisation. An organisation's calls weigh as much as `mostWeight` at most. */
const ruleForAll = (leastCalls: number): Rule => {
  const mostWeight = Math.ceil(leastCalls / 2)
  const leastFailuresOfOthers = Math.ceil(leastCalls / 5)

  const weighed = (ends: EndsByOrganization): ReadonlyArray<Ends> =>
    [...ends.values()].filter((one) => callsOf(one) > 0)
  const weightOf = (ends: Ends): number => Math.min(mostWeight, callsOf(ends))
  const failingWeightOf = (ends: Ends): number => (weightOf(ends) * ends.failed) / callsOf(ends)
  const sum = (all: ReadonlyArray<Ends>, of: (ends: Ends) => number): number =>
    all.reduce((total, ends) => total + of(ends), 0)
  const hasMoreFailures = (all: ReadonlyArray<Ends>): boolean =>
    sum(all, failingWeightOf) * 2 > sum(all, weightOf)

  return {
    isFailing: (ends) => {
      const all = weighed(ends)
      if (all.length < 2 || sum(all, callsOf) < leastCalls) return false
      const [failures, failing, weight] = [
        sum(all, ({ failed }) => failed),
        sum(all, failingWeightOf),
        sum(all, weightOf)
      ]
      return all.every(
        (one) =>
          failures - one.failed >= leastFailuresOfOthers &&
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

/** For one organisation, whose ends alone are there. */
const ruleForOne = (leastCalls: number): Rule => {
  const leastFailures = Math.ceil(leastCalls / 5)
  const all = (ends: EndsByOrganization): Ends => [...ends.values()].reduce(plus, none)
  return {
    isFailing: (ends) => {
      const { made, failed } = all(ends)
      return made + failed >= leastCalls && failed >= made
    },
    isLikelyFailing: (ends) => {
      const { made, failed } = all(ends)
      return failed >= leastFailures && failed >= made
    },
    isWorking: (ends) => {
      const { made, failed } = all(ends)
      return made > failed
    }
  }
}

/** The models that have to rest; null alone where the whole channel has to, as several of them fail alike. */
const dueModels = (
  byModel: EndsByModel,
  resting: ReadonlySet<string | null>,
  { isFailing, isLikelyFailing, isWorking }: Rule
): ReadonlyArray<string | null> => {
  if (resting.has(null)) return []
  const open = [...byModel].filter(([model]) => !resting.has(model))
  const likely = open.filter(([, ends]) => isLikelyFailing(ends)).length
  if (likely > 0 && likely + resting.size >= 2 && !open.some(([, ends]) => isWorking(ends))) {
    const together = new Map<string, Ends>()
    for (const [, ends] of open) {
      for (const [id, one] of ends) together.set(id, plus(together.get(id) ?? none, one))
    }
    if (isFailing(together)) return [null]
  }
  return open.filter(([, ends]) => isFailing(ends)).map(([model]) => model)
}

const byModelOf = (ends: ReadonlyArray<OrganizationEnds>): EndsByModel => {
  const byModel = new Map<string, Map<string, Ends>>()
  for (const { model, organizationId, made, failed } of ends) {
    const byOrganization = byModel.get(model) ?? new Map<string, Ends>()
    byModel.set(model, byOrganization)
    byOrganization.set(
      organizationId,
      plus(byOrganization.get(organizationId) ?? none, { made, failed })
    )
  }
  return byModel
}

/** Whether somebody else orders what rests there. */
const hasOthers = (ends: ReadonlyArray<OrganizationEnds>, of: CooldownScope): boolean =>
  ends.some(
    (one) =>
      one.organizationId !== of.organizationId &&
      (of.model === null || one.model === of.model) &&
      callsOf(one) > 0
  )

/** The rests that a channel needs beside those that it has, by the ends of its last calls. */
export const dueCooldowns = (
  ends: ReadonlyArray<OrganizationEnds>,
  resting: ReadonlyArray<CooldownScope>,
  leastCalls: number
): ReadonlyArray<DueCooldown> => {
  const restingFor = (organizationId: string | null) =>
    new Set(
      resting.filter((one) => one.organizationId === organizationId).map(({ model }) => model)
    )
  const forAll = restingFor(null)
  const due = dueModels(byModelOf(ends), forAll, ruleForAll(leastCalls))
  const covered = new Set([...forAll, ...due])
  const ofAll = due.map((model) => ({ model, organizationId: null, isAlone: false }))
  if (covered.has(null)) return ofAll

  const left = ends.filter(({ model, organizationId }) => {
    return organizationId !== OTHERS && !covered.has(model)
  })
  const ofOne = [...Map.groupBy(left, (one) => one.organizationId)].flatMap(
    ([organizationId, own]) =>
      dueModels(byModelOf(own), restingFor(organizationId), ruleForOne(leastCalls)).map((model) => {
        const scope = { model, organizationId }
        return { ...scope, isAlone: !hasOthers(ends, scope) }
      })
  )
  return [...ofAll, ...ofOne]
}

/** Those of an organisation that was alone, and beside which another one's orders are made. */
export const contradictedCooldowns = <A extends DueCooldown>(
  ends: ReadonlyArray<OrganizationEnds>,
  resting: ReadonlyArray<A>
): ReadonlyArray<A> => {
  const made = ends.filter((one) => one.made > 0)
  return resting.filter((rest) => rest.isAlone && hasOthers(made, rest))
}
