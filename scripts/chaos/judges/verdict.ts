/** The result of a judge. */

export interface Verdict {
  readonly id: string
  /** The rule that is checked, in a few words. */
  readonly rule: string
  /** The number of checked cases. */
  readonly checked: number
  /** The violations, one line each. */
  readonly violations: ReadonlyArray<string>
}

export interface Docket {
  /** Records one case; `wrong` is its violation, or null when there is none. */
  readonly look: (wrong: string | null) => void
  readonly verdict: Verdict
}

/** A docket for one rule, without any cases yet. */
export const open = (id: string, rule: string): Docket => {
  const violations: Array<string> = []
  const counted = { checked: 0 }
  return {
    look: (wrong) => {
      counted.checked++
      if (wrong !== null) violations.push(wrong)
    },
    get verdict() {
      return { id, rule, checked: counted.checked, violations }
    }
  }
}

export const groupBy = <A>(
  all: Iterable<A>,
  key: (one: A) => string
): ReadonlyMap<string, ReadonlyArray<A>> => {
  const groups = new Map<string, Array<A>>()
  for (const one of all) {
    const group = groups.get(key(one))
    if (group === undefined) groups.set(key(one), [one])
    else group.push(one)
  }
  return groups
}

export const sum = (amounts: Iterable<bigint>): bigint => {
  let total = 0n
  for (const amount of amounts) total += amount
  return total
}
