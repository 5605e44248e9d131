import { Clock, Context, Effect, Layer } from "effect"
import { readSwitches, type Switches } from "./switches.ts"

interface Trouble {
  readonly switches: Switches
  /** Milliseconds since 1970; null for as long as nobody changes it. */
  readonly until: number | null
}

const noSwitches: Switches = {}

/**
 * What goes wrong for one account of a vendor, whatever is ordered: the switches of a prompt, for a
 * while. An account is known by its key, as several channels of one vendor are.
 */
export class Accounts extends Context.Service<
  Accounts,
  {
    /** `words` such as `sim:refuse=503`; without any the account is well again. */
    trouble(key: string, words: string, seconds: number | null): Effect.Effect<void>
    switchesOf(key: string): Effect.Effect<Switches>
  }
>()("gateway/simulator/Accounts") {
  static readonly layer = Layer.sync(Accounts, () => {
    const troubles = new Map<string, Trouble>()
    return Accounts.of({
      trouble: Effect.fnUntraced(function* (key, words, seconds) {
        const until = seconds === null ? null : (yield* Clock.currentTimeMillis) + seconds * 1000
        troubles.set(key, { switches: readSwitches(words), until })
      }),
      switchesOf: Effect.fnUntraced(function* (key) {
        const { switches, until } = troubles.get(key) ?? { switches: noSwitches, until: null }
        return until === null || (yield* Clock.currentTimeMillis) < until ? switches : noSwitches
      })
    })
  })
}
