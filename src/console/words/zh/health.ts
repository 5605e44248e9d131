import type { health as english } from "../en/health.ts"
import type { Translated } from "../Translated.ts"

export const health: Translated<typeof english> = {
  title: "health"
}
