import type { access as english } from "../en/access.ts"
import type { Translated } from "../Translated.ts"

export const access: Translated<typeof english> = {
  title: "access"
}
