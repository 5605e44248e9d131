export const orders = {
  title: "orders"
} as const
