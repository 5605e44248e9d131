/**
 * What is too much for every run is divided among days: whoever runs the tests daily runs all of it.
 */
const DAY_MILLIS = 86_400_000

/** Days since 1970. `TEST_DAY` repeats what another day has chosen. */
const day = Number(process.env.TEST_DAY ?? Math.floor(Date.now() / DAY_MILLIS))

/** The first of `cases` seeds of the day, none of which is another day's. */
export const firstSeedOfDay = (cases: number): number => day * cases

/** The seed of a test that draws few cases, or that needs no others each day. */
export const seedOfDay = firstSeedOfDay(10_000)

/** Every item within `days` days; as many each day as on any other. */
export const shareOfDay = <A>(items: ReadonlyArray<A>, days: number): ReadonlyArray<A> =>
  items.filter((_, index) => (index + day) % days === 0)
