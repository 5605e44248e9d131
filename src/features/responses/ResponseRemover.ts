/** Deletes stored responses whose time has come. */
import { Effect, Layer } from "effect"
import { startJob } from "../../runtime/backgroundJobs.ts"
import { StoredResponses } from "../../services/results/StoredResponses.ts"

export const layerResponseRemover = Layer.effectDiscard(
  Effect.gen(function* () {
    const { removeExpired } = yield* StoredResponses
    yield* startJob({
      name: "response removal",
      interval: "1 minute",
      run: removeExpired,
      onFailure: (cause) => Effect.logWarning("responses: deleting expired ones failed", cause)
    })
  })
)
