/** A crowd that comes and goes after a collection of the whole heap; prints how many more there were. */
import { constants, PerformanceObserver } from "node:perf_hooks"
import { Predicate } from "effect"
import { makeRoster } from "../../src/runtime/Roster.ts"

const COMERS = 200_000
const AT_A_TIME = 64

interface Guest {
  readonly belongings: ReadonlyArray<number>
}

const [, , kind] = process.argv
const roster = makeRoster<Guest>()
const set = new Set<Guest>()
const enter = (guest: Guest): (() => void) => {
  if (kind === "roster") return roster.enter(guest)
  set.add(guest)
  return () => void set.delete(guest)
}

let collections = 0
const observer = new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    const detail = "detail" in entry ? entry.detail : null
    if (
      Predicate.hasProperty(detail, "kind") &&
      detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR
    ) {
      collections++
    }
  }
})
observer.observe({ entryTypes: ["gc"] })

const leaving: Array<() => void> = []
for (let comer = 0; comer < COMERS; comer++) {
  leaving.push(enter({ belongings: new Array<number>(1000).fill(comer) }))
  if (leaving.length > AT_A_TIME) leaving.shift()?.()
  if (comer === AT_A_TIME) globalThis.gc?.()
}
setTimeout(() => {
  observer.disconnect()
  console.log(collections - 1)
}, 50)
