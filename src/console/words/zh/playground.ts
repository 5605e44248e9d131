import type { playground as english } from "../en/playground.ts"
import type { Translated } from "../Translated.ts"

export const playground: Translated<typeof english> = {
  title: "playground"
}
