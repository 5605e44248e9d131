import { Clock, Context, Effect, Layer } from "effect"
import { readSwitches, type Switches } from "./switches.ts"

interface AccountFault {
  readonly switches: Switches
  /** The end of the fault, in milliseconds since 1970; null for a fault without a time limit. */
  readonly until: number | null
}

const noSwitches: Switches = {}

/**
 * Simulated faults per vendor account. A fault consists of switches as in a prompt, but applies to
 * every order of the account, with or without a time limit. An account is identified by its API
 * key, because one vendor may have several channels.
 */
export class Accounts extends Context.Service<
  Accounts,
  {
    /** Sets switches such as `sim:refuse=503`; an empty text ends the fault. */
    setFault(key: string, switches: string, seconds: number | null): Effect.Effect<void>
    switchesOf(key: string): Effect.Effect<Switches>
  }
>()("gateway/simulator/Accounts") {
  static readonly layer = Layer.sync(Accounts, () => {
    const faults = new Map<string, AccountFault>()
    return Accounts.of({
      setFault: Effect.fnUntraced(function* (key, switches, seconds) {
        const until = seconds === null ? null : (yield* Clock.currentTimeMillis) + seconds * 1000
        faults.set(key, { switches: readSwitches(switches), until })
      }),
      switchesOf: Effect.fnUntraced(function* (key) {
        const { switches, until } = faults.get(key) ?? { switches: noSwitches, until: null }
        return until === null || (yield* Clock.currentTimeMillis) < until ? switches : noSwitches
      })
    })
  })
}
