export const webhooks = {
  title: "webhooks"
} as const
