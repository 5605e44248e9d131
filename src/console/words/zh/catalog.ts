import type { catalog as english } from "../en/catalog.ts"
import type { Translated } from "../Translated.ts"

export const catalog: Translated<typeof english> = {
  title: "catalog"
}
