export const playground = {
  title: "playground"
} as const
