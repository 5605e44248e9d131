import type { channels as english } from "../en/channels.ts"
import type { Translated } from "../Translated.ts"

export const channels: Translated<typeof english> = {
  title: "channels"
}
