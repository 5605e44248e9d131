/** What a judge answers. */

export interface Verdict {
  readonly id: string
  /** What is asked of the books, in a few words. */
  readonly rule: string
  /** How many cases were looked at. */
  readonly checked: number
  /** One line for each case that is wrong. */
  readonly violations: ReadonlyArray<string>
}

export interface Docket {
  /** Notes one case; `wrong` is its violation, null when it is in order. */
  readonly look: (wrong: string | null) => void
  readonly verdict: Verdict
}

/** An empty list of cases for one rule. */
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
