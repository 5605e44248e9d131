import type { orders as english } from "../en/orders.ts"
import type { Translated } from "../Translated.ts"

export const orders: Translated<typeof english> = {
  title: "orders"
}
