/**
 * Rules of price tables that are a list of lines: a line is a price for orders with certain facts,
 * and the most specific line that applies to an order is its price.
 */
import { Array as Arr, type Option, Order } from "effect"

/** The value of a fact in a line that applies to every value; the same as a missing fact. */
export const ANY = "*"

interface LineOptions<Line, Name> {
  /** The names of the facts. */
  readonly names: ReadonlyArray<Name>
  /** The value by which a fact is compared. */
  readonly keyOf: (value: unknown) => unknown
  readonly inWords: (line: Line) => string
}

/** The rules for lines with these facts. */
export const makeLineRules = <
  Name extends string,
  Line extends { readonly [N in Name]?: string | boolean }
>({
  names,
  keyOf,
  inWords
}: LineOptions<Line, Name>) => {
  const isNamed = (line: Line, name: Name): boolean => (line[name] ?? ANY) !== ANY
  const namedFacts = (line: Line): ReadonlyArray<Name> =>
    names.filter((name) => isNamed(line, name))

  /** Whether an order can have the facts of both lines. */
  const overlap = (one: Line, other: Line): boolean =>
    names.every(
      (name) =>
        !isNamed(one, name) || !isNamed(other, name) || keyOf(one[name]) === keyOf(other[name])
    )

  /** Whether the line names every fact that the other line names. */
  const isWithin = (line: Line, other: Line): boolean =>
    namedFacts(other).every((name) => isNamed(line, name))

  /** The facts that either line names. */
  const merge = (one: Line, other: Line): Line => ({
    ...one,
    ...Object.fromEntries(namedFacts(other).map((name) => [name, other[name]]))
  })

  return {
    namedFacts,

    /**
     * Faults of lines among which no line is the most specific one: two equal lines, or two lines
     * that apply to the same orders without a line that names the facts of both.
     */
    faults: (lines: ReadonlyArray<Line>) =>
      lines.flatMap((line, index) =>
        lines.slice(0, index).flatMap((earlier, earlierIndex) => {
          const path = [index]
          const isMoreSpecific = isWithin(line, earlier) !== isWithin(earlier, line)
          if (!overlap(line, earlier) || isMoreSpecific) return []
          if (isWithin(line, earlier)) {
            return [{ path, issue: `Is for the same orders as lines[${earlierIndex}]` }]
          }
          const both = merge(line, earlier)
          const isForBoth = (other: Line) =>
            overlap(other, both) && isWithin(other, both) && isWithin(both, other)
          const issue = `Is for some of the orders of lines[${earlierIndex}]: add a line for ${inWords(both)}`
          return lines.some(isForBoth) ? [] : [{ path, issue }]
        })
      ),

    /** The most specific line that applies to an order with these facts. */
    lineFor: <L extends Line>(lines: ReadonlyArray<L>, facts: Line): Option.Option<L> =>
      Arr.head(
        Arr.sortBy(Order.mapInput(Order.flip(Order.Number), (line: L) => namedFacts(line).length))(
          lines.filter((line) => overlap(line, facts))
        )
      )
  }
}
