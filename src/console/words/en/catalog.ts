export const catalog = {
  title: "catalog"
} as const
