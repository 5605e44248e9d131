/** Lasting keys as a database without any would get them: derived from the master key. */
import { Effect, Layer } from "effect"
import { derivedBy, LastingKeys } from "../../services/LastingKeys.ts"
import { Vault } from "../../services/Vault.ts"

export const layerLastingKeysMemory = Layer.effect(
  LastingKeys,
  Effect.gen(function* () {
    const { derive, keyIds } = yield* Vault
    const [masterKeyId] = keyIds
    return LastingKeys.of({
      apiKeyHash: yield* derive(derivedBy.apiKeyHash, masterKeyId),
      demoApiKey: yield* derive(derivedBy.demoApiKey, masterKeyId)
    })
  }).pipe(Effect.orDie)
)
