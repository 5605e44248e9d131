export const health = {
  title: "health"
} as const
