/** A mutant of the sources: one change that a test or a rule must detect. */

export interface Mutant {
  readonly name: string
  /** The path of the file from the root of the repository. */
  readonly file: string
  /** The text that is replaced. It occurs once in the file, so that each mutant is one change. */
  readonly place: string
  readonly becomes: string
  /** What shows the change, where the simulation cannot; else null. */
  readonly needs: Need | null
}

/**
 * Concurrent transactions: the simulation has one connection. A certain order of closes: of those that
 * come together any may win, so only a test that says which one is first can tell.
 */
type Need = "concurrent transactions" | "a certain order of closes"

type Row = readonly [name: string, place: string, becomes: string, needs?: Need]

/** The mutants of a list that is grouped by file. */
export const mutantsIn = (
  rowsByFile: Readonly<Record<string, ReadonlyArray<Row>>>
): ReadonlyArray<Mutant> =>
  Object.entries(rowsByFile).flatMap(([file, rows]) =>
    rows.map(([name, place, becomes, needs = null]) => ({ name, file, place, becomes, needs }))
  )

/** The text of the mutant's file with its change. Fails where its place is not unique. */
export const mutate = ({ name, place, becomes }: Mutant, text: string): string => {
  if (text.split(place).length !== 2) throw new Error(`${name}: its place is not unique`)
  return text.replace(place, () => becomes)
}
