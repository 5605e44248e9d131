/** Deletes sessions some time after they have ended. */
import { Effect, Layer } from "effect"
import { startJob } from "../../runtime/backgroundJobs.ts"
import { SignIn } from "./SignIn.ts"

export const layerSessionCleaner = Layer.effectDiscard(
  Effect.gen(function* () {
    const signIn = yield* SignIn
    if (signIn === null) return
    yield* startJob({
      name: "session removal",
      interval: "10 minutes",
      run: signIn.store.removeEnded,
      onFailure: (cause) => Effect.logWarning("sign-in: deleting ended sessions failed", cause)
    })
  })
)
