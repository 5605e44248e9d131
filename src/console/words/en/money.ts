export const money = {
  title: "money"
} as const
