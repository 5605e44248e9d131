import { Effect, Layer } from "effect"
import { Changes, makeMarks } from "../../runtime/Changes.ts"

/** There is one gateway on a state in memory, so nobody else has to be told or heard. */
export const layerChangesMemory = Layer.effect(
  Changes,
  Effect.gen(function* () {
    const { changed, mark, isFresh, isListening } = yield* makeMarks(() => true)
    return Changes.of({
      telling: (topic, change) => Effect.ensuring(change, changed([topic])),
      mark,
      isFresh,
      isListening
    })
  })
)
