/**
 * Rotates the keys of a channel between its orders (round robin). A key that its vendor refuses
 * cools down, and the call is retried with another key. The retry is safe, as a vendor that refuses
 * the key has created nothing.
 */
import { Array as Arr, Effect } from "effect"
import { isAboutKey, isKeyRefused, type VendorFailure } from "../domain/VendorOutcome.ts"
import type { KeyedAccount } from "../services/channels/ChannelCredentials.ts"
import type { UpstreamTask } from "../services/TaskRepo.ts"
import { type BreakerState, ChannelHealth, type ChannelKey } from "./ChannelHealth.ts"

type Accounts = Arr.NonEmptyReadonlyArray<KeyedAccount>
type Call<A> = (account: KeyedAccount) => Effect.Effect<A, VendorFailure>

/**
 * The key under which the health of an account is recorded. A superseded version has its own key,
 * as a refusal of this version says nothing about the version that replaced it.
 */
const keyOfAccount = ({ channelId, keyName, version, isSuperseded }: KeyedAccount): ChannelKey => ({
  channelId,
  keyName: isSuperseded ? `${keyName}@${version}` : keyName
})

/** Whether the task was created with this key and version of the account. */
export const isMaker = (
  { keyName, version }: KeyedAccount,
  task: Pick<UpstreamTask, "accountVersion" | "keyName">
): boolean => version === task.accountVersion && keyName === task.keyName

interface RotationCall<A> {
  readonly call: Call<A>
  /**
   * Whether a repetition is allowed; false as soon as a part of the answer was sent to the client.
   */
  readonly mayRepeat: () => boolean
  /** Whether the call may be repeated with another key after this failure. */
  readonly isRefused: (failure: VendorFailure) => boolean
  readonly stateOf: ChannelHealth["Service"]["keyState"]
}

export type KeyTurns = Effect.Success<typeof makeKeyTurns>

export const makeKeyTurns = Effect.gen(function* () {
  const health = yield* ChannelHealth
  const nextPositions = new Map<string, number>()

  /** Calls with an account, and runs `afterRefusal` where the vendor refused its key. */
  const callWith = <A>(
    account: KeyedAccount,
    key: ChannelKey,
    state: BreakerState["_tag"],
    { call, isRefused }: RotationCall<A>,
    afterRefusal: (failure: VendorFailure) => Effect.Effect<A, VendorFailure>
  ) => {
    const result = call(account)
    const recordedResult =
      state === "Closed" ? result : Effect.tap(result, () => health.recordKeySuccess(key))
    return Effect.catch(recordedResult, (failure) => {
      if (isRefused(failure)) {
        return Effect.andThen(health.recordKeyRefusal(key, failure), () => afterRefusal(failure))
      }
      const failureEffect = Effect.fail(failure)
      return state === "HalfOpen"
        ? Effect.andThen(health.returnKeyTrial(key), failureEffect)
        : failureEffect
    })
  }

  /**
   * Calls with the first key that is not cooling down, and after a refusal retries with the keys
   * that follow. Calls with the first key when all keys are cooling down; fails with the last
   * refusal when no key is left.
   */
  const callInRotation = <A>(accounts: Accounts, rotationCall: RotationCall<A>) => {
    const callFrom = (
      index: number,
      refusal: VendorFailure | null
    ): Effect.Effect<A, VendorFailure> => {
      const account = accounts[index]
      if (account === undefined) {
        return refusal === null
          ? callWith(accounts[0], keyOfAccount(accounts[0]), "Open", rotationCall, Effect.fail)
          : Effect.fail(refusal)
      }
      const key = keyOfAccount(account)
      return Effect.flatMap(rotationCall.stateOf(key), ({ _tag: state }) =>
        state === "Open"
          ? callFrom(index + 1, refusal)
          : callWith(account, key, state, rotationCall, (failure) =>
              rotationCall.mayRepeat() ? callFrom(index + 1, failure) : Effect.fail(failure)
            )
      )
    }
    return callFrom(0, null)
  }

  /**
   * The breaker state of a key for polling. A key without credit creates no tasks, but its earlier
   * tasks can still be polled.
   */
  const stateForTask: ChannelHealth["Service"]["keyState"] = (key) =>
    health.keyCooldownReason(key) === "account_empty"
      ? Effect.succeed({ _tag: "Closed" })
      : health.keyState(key)

  return {
    /** Makes the call of an order, starting with the next key of the rotation. */
    forOrder: <A>(
      accounts: Accounts,
      call: Call<A>,
      mayRepeat: () => boolean = () => true
    ): Effect.Effect<A, VendorFailure> =>
      Effect.suspend(() => {
        const [{ channelId }] = accounts
        const position = nextPositions.get(channelId) ?? 0
        if (accounts.length > 1) nextPositions.set(channelId, (position + 1) % accounts.length)
        const { keyState: stateOf } = health
        return callInRotation(position === 0 ? accounts : Arr.rotate(accounts, -position), {
          call,
          mayRepeat,
          isRefused: isAboutKey,
          stateOf
        })
      }),
    /**
     * Makes a call about a task, starting with the key that created the task: some vendors show a
     * task only to that key.
     */
    forTask: <A>(
      accounts: Accounts,
      task: Parameters<typeof isMaker>[1],
      call: Call<A>
    ): Effect.Effect<A, VendorFailure> => {
      const first = Math.max(
        0,
        accounts.findIndex((account) => isMaker(account, task))
      )
      const rotationCall = {
        call,
        mayRepeat: () => true,
        isRefused: isKeyRefused,
        stateOf: stateForTask
      }
      return callInRotation(Arr.rotate(accounts, -first), rotationCall)
    }
  }
})
