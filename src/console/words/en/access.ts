export const access = {
  title: "access"
} as const
