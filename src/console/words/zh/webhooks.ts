import type { webhooks as english } from "../en/webhooks.ts"
import type { Translated } from "../Translated.ts"

export const webhooks: Translated<typeof english> = {
  title: "webhooks"
}
